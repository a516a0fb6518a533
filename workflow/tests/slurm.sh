#!/usr/bin/env bash
# Runs a real Slurm on one machine, for tests: a controller and two nodes.
#
#   slurm.sh up DIR      starts it; then `source DIR/environment`
#   slurm.sh down DIR    stops it
#
# Requires root, and slurmctld, slurmd, slurm-client and munge from Debian. DIR has the configuration, logs and state. The only file
# outside of it is /run/slurm/conf, by which programs in jobs find the configuration.
set -euo pipefail
usage() { sed -n '2,9s/^# \?//p' "$0"; exit 2; }
[ $# = 2 ] || usage
verb=$1 dir=$2

configure() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
  cat >"$dir/slurm.conf" <<EOF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,default_queue_depth=10000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
# There is no accounting database; the logs of the jobs show how they ended.
JobAcctGatherType=jobacct_gather/none
MinJobAge=600
MaxJobCount=50000
ReturnToService=2
# Snakemake resubmits lost jobs. Slurm would wait for two minutes.
JobRequeue=0
SlurmdTimeout=15
InactiveLimit=0
KillWait=3
# Nodes report the configured resources, not those of the machine.
SlurmdParameters=config_overrides
NodeName=node1,node2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17001,17002 CPUs=$cores RealMemory=$((memory / 2)) State=UNKNOWN
PartitionName=test Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=500
EOF
}

up() {
  mkdir -p "$dir"/{munge,state}
  dir=$(cd "$dir" && pwd)
  for tool in munged slurmctld slurmd sinfo; do
    command -v "$tool" >/dev/null || { echo "missing: $tool (apt-get install slurm-wlm munge)"; exit 1; }
  done
  configure
  # Jobs start without the environment variables of Slurm, so programs need the default path.
  [ ! -e /run/slurm/conf ] || [ -L /run/slurm/conf ] || { echo "/run/slurm/conf: another Slurm is installed on this machine"; exit 1; }
  mkdir -p /run/slurm
  ln -sfn "$dir" /run/slurm/conf
  # munge requires that other users cannot write to any folder on the path.
  chmod 755 "$dir" "$dir/munge"
  head -c 1024 /dev/urandom >"$dir/munge/key"
  chmod 600 "$dir/munge/key"
  munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
  export SLURM_CONF=$dir/slurm.conf
  slurmctld -f "$SLURM_CONF"
  for node in node1 node2; do slurmd -N "$node" -f "$SLURM_CONF"; done
  echo "export SLURM_CONF=$SLURM_CONF" >"$dir/environment"
  for _ in $(seq 60); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && { sinfo; return; }
    sleep 0.5
  done
  echo "the nodes did not come up: see $dir/*.log"
  exit 1
}

down() {
  local file
  [ -d "$dir" ] || return 0
  dir=$(cd "$dir" && pwd)
  export SLURM_CONF=$dir/slurm.conf
  scancel --user=root 2>/dev/null || true
  [ "$(readlink /run/slurm/conf)" != "$dir" ] || rm /run/slurm/conf
  for file in "$dir"/slurmd-*.pid "$dir/slurmctld.pid" "$dir/munge/pid"; do
    [ -f "$file" ] && kill "$(cat "$file")" 2>/dev/null || true
  done
}

case $verb in
  up) up ;;
  down) down ;;
  *) usage ;;
esac
