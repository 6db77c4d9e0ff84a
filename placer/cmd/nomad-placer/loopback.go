package main

import (
	"net"
	"net/url"
	"os"
	"strings"
)

// onLoopback reports whether an address, a URL or host:port, is reached only from the
// network it is in: a loopback address, or one without a host.
func onLoopback(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "" || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// ownLoopback names the network whose loopback addresses this process uses: that of this
// boot of the host, and of the network namespace. It is empty where the kernel does not
// tell.
func ownLoopback() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + network
}
