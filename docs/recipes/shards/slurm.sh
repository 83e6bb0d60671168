#!/bin/bash
# Grade a class in 64 jobs: sbatch slurm.sh. Call sbatch in the folder with submissions/; the stores go to parts/.
#SBATCH --job-name=grade
#SBATCH --array=0-63
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=1G
#SBATCH --time=01:00:00
#SBATCH --requeue

set -u
part=parts/$SLURM_ARRAY_TASK_ID.sqlite
work=${TMPDIR:-/tmp}/headway-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID
mkdir -p parts "$work"

# The store is on the node's own disk: SQLite is not safe on many network file systems.
if [ -e "$part" ]; then cp "$part" "$work/part.sqlite"; fi
grader grade submissions --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --store "$work/part.sqlite" \
  --sandbox landlock --format csv --output "$work/marks.csv"
status=$?
cp "$work/part.sqlite" "$part"
rm -r "$work"
[ $status -le 1 ] # 1: a submission did not pass
