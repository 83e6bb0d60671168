"""Workers for `grader grade --cluster` as SLURM jobs, with dask-jobqueue: python docs/recipes/cluster/slurm.py

`cluster.pem` is the file that `grader cluster certificate cluster.pem` made. The cluster runs until you press Enter.
"""

import os

import dask
from dask_jobqueue import SLURMCluster
from distributed.security import Security

from grader.classroom.cluster_connection import DASK

os.environ.update(DASK)  # for the scheduler, which runs here
dask.config.refresh()
FILES = (f"tls_{role}_{part}" for role in ("scheduler", "worker", "client") for part in ("cert", "key"))
SECURITY = Security(tls_ca_file="cluster.pem", **dict.fromkeys(FILES, "cluster.pem"))
OPTIONS = {
    "cores": 1,
    "processes": 1,
    "memory": "2GB",  # a worker reads, judges and runs student code in processes of their own
    "walltime": "01:00:00",
    "protocol": "tls://",
    "worker_extra_args": ["--lifetime", "55m", "--lifetime-stagger", "4m"],  # leave before SLURM ends the job
    # The settings of the workers, which run elsewhere.
    "job_script_prologue": [f'export {name}="{value}"' for name, value in DASK.items()],
}

if __name__ == "__main__":
    cluster = SLURMCluster(security=SECURITY, **OPTIONS)
    cluster.adapt(minimum_jobs=1, maximum_jobs=64)
    print("grader grade submissions --certificate cluster.pem --cluster", cluster.scheduler_address)
    input("Enter ends the cluster")
