#!/bin/bash
# What a pod of a LeaderWorkerSet runs, so that TensorRT-LLM serves over several nodes.
#
#   node.sh worker            waits for mpirun, which starts the ranks of this node by ssh
#   node.sh leader RECIPE     builds, waits for the workers, starts the server through
#                             trtspec's launcher script: mpirun and trtllm-llmapi-launch
#
# sshd runs as the container's own user on port 2222. One key pair, of a Secret mounted at
# TRTSPEC_SSH_KEYS, is host key and user key of all pods, so that each side proves itself.
# LWS_LEADER_ADDRESS, LWS_GROUP_SIZE: set by LeaderWorkerSet. TRTSPEC_GPUS_PER_NODE: ranks
# of a node. TRTSPEC_WAIT: seconds that the workers get to come up.
set -euo pipefail

role="${1:?is leader or worker}"
keys="${TRTSPEC_SSH_KEYS:-/etc/trtspec-ssh}"
port="${TRTSPEC_SSH_PORT:-2222}"
ssh="${TRTSPEC_CACHE:-$HOME}/ssh"

say() { printf '%s\n' "$*" >&2; }

# ssh and sshd take a private key only where no one else can read it
write_keys() {
  install -d -m 0700 "$ssh"
  install -m 0600 "$keys/ssh-privatekey" "$ssh/key"
  ssh-keygen -y -f "$ssh/key" >"$ssh/key.pub"
  cp "$ssh/key.pub" "$ssh/authorized_keys"
  printf '* %s\n' "$(cat "$ssh/key.pub")" >"$ssh/known_hosts"
}

# What mpirun starts here by ssh gets the environment of this container, not the bare one of
# a new session: the paths of CUDA, TensorRT and Open MPI are in it.
write_sshd_config() {
  local name value kept=()
  for name in PATH LD_LIBRARY_PATH BASH_ENV ENV HOME HF_HOME TRTSPEC_CACHE CUDA_HOME \
    OPAL_PREFIX OMPI_MCA_orte_keep_fqdn_hostnames; do
    value="${!name:-}"
    [ -z "$value" ] || kept+=("\"$name=$value\"")
  done
  cat >"$ssh/sshd_config" <<EOF
Port $port
HostKey $ssh/key
AuthorizedKeysFile $ssh/authorized_keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowTcpForwarding no
X11Forwarding no
SetEnv ${kept[*]}
EOF
}

# mpirun calls the ssh of the PATH; how it is told of options differs between the releases
# of Open MPI (plm_rsh_args, plm_ssh_args), so they are in a script of that name.
write_ssh() {
  local program
  program="$(command -v ssh)"
  install -d -m 0700 "$ssh/bin"
  printf '#!/bin/sh\nexec %q -F %q "$@"\n' "$program" "$ssh/config" >"$ssh/bin/ssh"
  chmod 0700 "$ssh/bin/ssh"
  PATH="$ssh/bin:$PATH"
  cat >"$ssh/config" <<EOF
Host *
  Port $port
  IdentityFile $ssh/key
  IdentitiesOnly yes
  UserKnownHostsFile $ssh/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
  ConnectTimeout 5
  LogLevel ERROR
EOF
}

# LWS_LEADER_ADDRESS is NAME-GROUP.NAME.NAMESPACE; worker 1 is NAME-GROUP-1.NAME.NAMESPACE
worker_hosts() {
  local leader="${LWS_LEADER_ADDRESS:?is set by LeaderWorkerSet}" index
  for ((index = 1; index < ${LWS_GROUP_SIZE:?is set by LeaderWorkerSet}; index++)); do
    printf '%s-%d.%s\n' "${leader%%.*}" "$index" "${leader#*.}"
  done
}

await_worker() {
  local host="$1" deadline="$2" told
  until told="$(ssh "$host" true 2>&1)"; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      say "no ssh to $host after ${TRTSPEC_WAIT:-3600} s: $told"
      exit 1
    fi
    sleep 2
  done
  say "$host is there"
}

lead() {
  local recipe="$1" per_node="${TRTSPEC_GPUS_PER_NODE:?is the number of ranks of a node}"
  local artifact host hosts deadline script="$ssh/serve.sh"
  # on stdout build ends with the artifact's directory
  artifact="$(trtspec build "$recipe" | tail -n 1)"
  trtspec plan "$recipe" --launcher mpirun --output "$script" >&2
  hosts="${LWS_LEADER_ADDRESS:?is set by LeaderWorkerSet}:$per_node"
  deadline=$((SECONDS + ${TRTSPEC_WAIT:-3600}))
  for host in $(worker_hosts); do
    await_worker "$host" "$deadline"
    hosts+=",$host:$per_node"
  done
  TRTSPEC_ARTIFACT="$(realpath -- "$artifact")"
  TRTSPEC_HOSTS="$hosts"
  export TRTSPEC_ARTIFACT TRTSPEC_HOSTS
  say "serving $TRTSPEC_ARTIFACT on $TRTSPEC_HOSTS"
  exec bash "$script"
}

export OMPI_MCA_orte_keep_fqdn_hostnames=1
write_keys
case "$role" in
  worker)
    write_sshd_config
    exec "$(command -v sshd || echo /usr/sbin/sshd)" -D -e -f "$ssh/sshd_config"
    ;;
  leader)
    write_ssh
    lead "${2:?is the recipe}"
    ;;
  *)
    say "no role $role: leader or worker"
    exit 2
    ;;
esac
