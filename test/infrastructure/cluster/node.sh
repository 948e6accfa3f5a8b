#!/bin/bash
# A Kubernetes node with its control plane. It is the first process of its own mount, cgroup, pid, network, UTS and IPC
# namespaces (node.ts), so that its end is the end of everything in it. It takes these folders as variables:
#   STATE     data, certificates and logs
#   PROGRAMS  programs of Kubernetes
set -euo pipefail
exec < /dev/null
export HOME=/root PATH=$PROGRAMS:/usr/sbin:/usr/bin:/sbin:/bin
readonly ADDRESS=10.200.0.2 PODS=10.244.0.0/16 SERVICES=10.96.0.0/16 CERTIFICATES=$STATE/certificates
export KUBECONFIG=$CERTIFICATES/admin.kubeconfig
trap 'exit 0' TERM
hostname node1

start() {
  local name=$1
  shift
  nohup "$@" > "$STATE/log/$name.log" 2>&1 &
}

wait_for() {
  for _ in $(seq 600); do
    "$@" > /dev/null 2>&1 && return
    sleep 0.5
  done
  echo "timed out: $*" >&2
  exit 1
}

# The kubelet needs shared propagation; the machine's own mounts are not touched.
mount --make-rprivate /
mount --make-rshared /
umount -R /sys/fs/cgroup 2> /dev/null || true
mount -t sysfs sysfs /sys
if [ -e /proc/self/cgroup ] && grep -q '^0::' /proc/self/cgroup && [ "$(wc -l < /proc/self/cgroup)" = 1 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for controller in cpu cpuacct cpuset memory devices freezer blkio pids; do
    mkdir "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
  done
  mkdir /sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
fi
mount -t tmpfs tmpfs /run
for folder in /var/lib/kubelet /var/lib/containerd /var/log/pods /var/log/containers /var/lib/cni /etc/cni /opt/cni; do
  mkdir -p "$STATE/root$folder" "$folder"
  mount --bind "$STATE/root$folder" "$folder"
done
mount --make-rshared /

# The kubelet insists on these settings of the kernel. It sees them; the machine's own do not change.
show() {
  [ -e "/proc/sys/$1" ] || return 0
  local file=$STATE/sysctl/${1//\//_}
  mkdir -p "$STATE/sysctl"
  echo "$2" > "$file"
  mount --bind "$file" "/proc/sys/$1"
}
show vm/overcommit_memory 1
show vm/panic_on_oom 0
show kernel/panic 10
show kernel/panic_on_oops 1
show kernel/keys/root_maxkeys 1000000
show kernel/keys/root_maxbytes 25000000

wait_for ip link show accord-node
ip link set lo up
ip link set accord-node name eth0
ip address add "$ADDRESS/24" dev eth0
ip link set eth0 up
ip route add default via 10.200.0.1
echo 1 > /proc/sys/net/ipv4/ip_forward
: > "$STATE/resolv.conf"

start etcd etcd --data-dir "$STATE/etcd" --unsafe-no-fsync --log-level error \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
  --initial-cluster default=http://127.0.0.1:2380
start apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --profiling=false \
  --bind-address="$ADDRESS" --advertise-address="$ADDRESS" --secure-port=6443 --service-cluster-ip-range="$SERVICES" \
  --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
  --client-ca-file="$CERTIFICATES/ca.crt" \
  --tls-cert-file="$CERTIFICATES/apiserver.crt" --tls-private-key-file="$CERTIFICATES/apiserver.key" \
  --service-account-issuer=https://kubernetes.default.svc.cluster.local \
  --service-account-key-file="$CERTIFICATES/service-accounts.pub" \
  --service-account-signing-key-file="$CERTIFICATES/service-accounts.key" \
  --kubelet-preferred-address-types=InternalIP --kubelet-certificate-authority="$CERTIFICATES/ca.crt" \
  --kubelet-client-certificate="$CERTIFICATES/apiserver-kubelet.crt" \
  --kubelet-client-key="$CERTIFICATES/apiserver-kubelet.key" \
  --requestheader-client-ca-file="$CERTIFICATES/ca.crt" --requestheader-allowed-names=front-proxy \
  --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
  --requestheader-extra-headers-prefix=X-Remote-Extra- --enable-aggregator-routing=true \
  --proxy-client-cert-file="$CERTIFICATES/front-proxy.crt" --proxy-client-key-file="$CERTIFICATES/front-proxy.key"
wait_for kubectl get --raw /readyz
start controller-manager kube-controller-manager --kubeconfig="$CERTIFICATES/controller-manager.kubeconfig" \
  --bind-address=127.0.0.1 --leader-elect=false --use-service-account-credentials=true \
  --root-ca-file="$CERTIFICATES/ca.crt" --service-account-private-key-file="$CERTIFICATES/service-accounts.key" \
  --allocate-node-cidrs=true --cluster-cidr="$PODS" --service-cluster-ip-range="$SERVICES" --node-monitor-period=2s
start scheduler kube-scheduler --kubeconfig="$CERTIFICATES/scheduler.kubeconfig" \
  --bind-address=127.0.0.1 --leader-elect=false

mkdir -p /etc/cni/net.d /opt/cni/bin /run/containerd
cp /usr/lib/cni/* /opt/cni/bin/
cat > /etc/cni/net.d/10-bridge.conflist << 'JSON'
{ "cniVersion": "1.0.0", "name": "bridge", "plugins": [
  { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.244.0.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
JSON
cat > "$STATE/containerd.toml" << 'TOML'
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  restrict_oom_score_adj = true
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  disable_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
TOML
start containerd containerd --config "$STATE/containerd.toml"
wait_for ctr version
touch "$STATE/runtime-ready"
# node.ts imports the images.
wait_for test -e "$STATE/images-ready"
cat > "$STATE/kubelet.yaml" << YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
oomScoreAdj: 0
authentication:
  anonymous: { enabled: false }
  webhook: { enabled: true }
  x509: { clientCAFile: $CERTIFICATES/ca.crt }
authorization: { mode: Webhook }
tlsCertFile: $CERTIFICATES/kubelet.crt
tlsPrivateKeyFile: $CERTIFICATES/kubelet.key
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: $STATE/resolv.conf
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: { memory.available: 100Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%, imagefs.inodesFree: 1% }
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
YAML
start kubelet kubelet --config="$STATE/kubelet.yaml" --kubeconfig="$CERTIFICATES/kubelet.kubeconfig" \
  --hostname-override=node1 --node-ip="$ADDRESS"
cat > "$STATE/kube-proxy.yaml" << YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clusterCIDR: $PODS
hostnameOverride: node1
clientConnection: { kubeconfig: $CERTIFICATES/kube-proxy.kubeconfig }
oomScoreAdj: 0
conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
YAML
start kube-proxy kube-proxy --config="$STATE/kube-proxy.yaml"
kubectl wait --for=create node/node1 --timeout=60s
kubectl wait --for=condition=Ready node/node1 --timeout=90s
touch "$STATE/ready"
while :; do
  sleep 3600 &
  wait $! || true
done
