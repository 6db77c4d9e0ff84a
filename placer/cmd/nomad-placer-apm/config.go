package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// The keys of the plugin's `config` block.
const (
	keyAddress  = "address"
	keyCA       = "ca_file"
	keyCert     = "cert_file"
	keyKey      = "key_file"
	keyToken    = "token_file"
	keysOfNomad = "nomad_" // the autoscaler adds its own configuration for Nomad, which is not used here
)

var keys = []string{keyAddress, keyCA, keyCert, keyKey, keyToken}

// config is how the agent is reached.
type config struct {
	address   *url.URL
	ca        string // a file; else the authorities of the system
	cert, key string // files, for an agent that asks for a certificate
	token     string // a file, for an agent of a cluster with access control
}

// newConfig reads the plugin's block. Files that cannot be used are reported now, and are read
// anew for each question, so that they may be renewed.
func newConfig(block map[string]string) (config, error) {
	for _, key := range slices.Sorted(maps.Keys(block)) {
		if !slices.Contains(keys, key) && !strings.HasPrefix(key, keysOfNomad) {
			return config{}, fmt.Errorf("there is no setting %q; those of %s are %s", key, name, strings.Join(keys, ", "))
		}
	}
	address, err := parseAddress(block[keyAddress])
	if err != nil {
		return config{}, err
	}
	c := config{address: address, ca: block[keyCA], cert: block[keyCert], key: block[keyKey], token: block[keyToken]}
	if err := c.check(); err != nil {
		return config{}, err
	}
	if _, err := c.transport(); err != nil {
		return config{}, err
	}
	_, err = c.readToken()
	return c, err
}

func parseAddress(text string) (*url.URL, error) {
	if text == "" {
		return nil, fmt.Errorf("%s is missing: where an agent of nomad-placer serves its pages, such as http://127.0.0.1:9464", keyAddress)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: want http://host:port or https://host:port: %w", keyAddress, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s %q: want http://host:port or https://host:port", keyAddress, text)
	}
	return u, nil
}

// check is of settings that do not go together.
func (c config) check() error {
	secure := c.address.Scheme == "https"
	switch {
	case (c.cert == "") != (c.key == ""):
		return fmt.Errorf("%s and %s go together", keyCert, keyKey)
	case !secure && (c.ca != "" || c.cert != ""):
		return fmt.Errorf("%s begins with http, so that %s and %s are not used; give an https address or leave them out", keyAddress, keyCA, keyCert)
	case !secure && c.token != "" && !onLoopback(c.address.Hostname()):
		return fmt.Errorf("%s is on another machine and not reached by https: the token of %s would cross the network in the clear. Give the agents certificates, and an https address here", keyAddress, keyToken)
	}
	return nil
}

func onLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// transport is made for one question.
func (c config) transport() (*http.Transport, error) {
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if c.ca != "" {
		text, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keyCA, err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM form", keyCA, c.ca)
		}
	}
	if c.cert != "" {
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keyCert, err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// readToken reads the token; it is empty where none is needed.
func (c config) readToken() (string, error) {
	if c.token == "" {
		return "", nil
	}
	text, err := os.ReadFile(c.token)
	if err != nil {
		return "", fmt.Errorf("%s: %w", keyToken, err)
	}
	token := string(bytes.TrimSpace(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", errors.New(keyToken + ": want a file with the Secret ID of a Nomad token, and nothing else")
	}
	return token, nil
}
