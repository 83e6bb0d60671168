"""Workers for `grader grade --cluster` as SLURM jobs, with dask-jobqueue: python docs/recipes/cluster/slurm.py

`keys` is the folder that `grader cluster certificates keys` made. The cluster runs until you press Enter.
"""

import dask
from dask_jobqueue import SLURMCluster
from distributed.security import Security

from grader.classroom.cluster_worker import DASK, dask_variables

dask.config.set(DASK)  # of the scheduler, which runs here: it serves no page but /health
keys = {"tls_ca_file": "keys/ca.pem", "require_encryption": True}
for role in ("scheduler", "worker", "client"):
    keys |= {f"tls_{role}_cert": f"keys/{role}.pem", f"tls_{role}_key": f"keys/{role}.pem"}
OPTIONS = {
    "cores": 1,
    "processes": 1,
    "memory": "2GB",  # a worker reads, judges and runs student code in processes of their own
    "walltime": "01:00:00",
    "protocol": "tls://",
    "worker_extra_args": ["--lifetime", "55m", "--lifetime-stagger", "4m"],  # leave before SLURM ends the job
    # The settings of the workers, which run elsewhere.
    "job_script_prologue": [f'export {name}="{value}"' for name, value in dask_variables().items()],
}

if __name__ == "__main__":
    cluster = SLURMCluster(security=Security(**keys), **OPTIONS)
    cluster.adapt(minimum_jobs=1, maximum_jobs=64)
    print("grader grade submissions --certificates keys --cluster", cluster.scheduler_address)
    input("Enter ends the cluster")
