/**
 * Self-signed certificates, made with openssl for these tests only. The first two are for localhost, 127.0.0.1 and
 * costs.example.org, valid until 2126.
 */
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import type { TlsFiles } from "../src/common/tls/certificate.js";

export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

export const first: Pair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBpzCCAU6gAwIBAgIUaKVIPTV9xdvxkSJZP6r3/IWqra4wCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFZmlyc3QwIBcNMjYxMTI1MDg1NzAzWhgPMjEyNjExMDEwODU3
MDNaMBAxDjAMBgNVBAMMBWZpcnN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
jOK/NGQuDXQw58lHuBY5r4CxT81TbZVAkZ93qnd/ojvouRbdHw/XgKeX9nZiYDSl
aWk/ttzqENC46GMFS4yGkKOBgzCBgDAdBgNVHQ4EFgQUQt6oTxbRLFP1A+42VTiY
eq3j1xgwHwYDVR0jBBgwFoAUQt6oTxbRLFP1A+42VTiYeq3j1xgwDwYDVR0TAQH/
BAUwAwEB/zAtBgNVHREEJjAkgglsb2NhbGhvc3SCEWNvc3RzLmV4YW1wbGUub3Jn
hwR/AAABMAoGCCqGSM49BAMCA0cAMEQCIE1SMfa21ujxnzA8rVPDaL4pgjGTOw1F
Fu1h3HUmGRP1AiB5yS3K8mwwVDbSleci9uMzpuQivGFut3VuXBm2MHtcKQ==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFIIBZgP/a4L4Wjcv
G6I8VyAnXxOMAWnfn8tE8Sn7FZOhRANCAASM4r80ZC4NdDDnyUe4FjmvgLFPzVNt
lUCRn3eqd3+iO+i5Ft0fD9eAp5f2dmJgNKVpaT+23OoQ0LjoYwVLjIaQ
-----END PRIVATE KEY-----
`,
};

export const renewed: Pair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBrDCCAVKgAwIBAgIUHkKwSz13yZ+sKzO65LvjgqSKAz8wCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHcmVuZXdlZDAgFw0yNjExMjUwODU3MDNaGA8yMTI2MTEwMTA4
NTcwM1owEjEQMA4GA1UEAwwHcmVuZXdlZDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABNy+M9rBMqb2QJhAofuM9NJUi79WClERigdtvl6cI8u1ltLM8C8/ApRggG6g
BRmeV8NnYbZpcbpr63RlsBEvXUSjgYMwgYAwHQYDVR0OBBYEFNPjN6M/ZcbQYl3Q
2rQ+vzxeFWEqMB8GA1UdIwQYMBaAFNPjN6M/ZcbQYl3Q2rQ+vzxeFWEqMA8GA1Ud
EwEB/wQFMAMBAf8wLQYDVR0RBCYwJIIJbG9jYWxob3N0ghFjb3N0cy5leGFtcGxl
Lm9yZ4cEfwAAATAKBggqhkjOPQQDAgNIADBFAiAYFrivjdET5ymI1CbLw6lWdS3K
UTfMvYeJTpMWlXZgSAIhANd5k8VyozVowUqalwlPjAqOLtxmwu3on4e+DmC3JbTT
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQguYyDgUxzvKqqVcCe
n6fE8OIhHAC/pW1iKOfse+UylLmhRANCAATcvjPawTKm9kCYQKH7jPTSVIu/VgpR
EYoHbb5enCPLtZbSzPAvPwKUYIBuoAUZnlfDZ2G2aXG6a+t0ZbARL11E
-----END PRIVATE KEY-----
`,
};

export const expired: Pair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBCjCBsgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVkMB4XDTIw
MDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFowEjEQMA4GA1UEAwwHZXhwaXJlZDBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABNHI1Fq/I/HCtRzzGxBnXCic3VvB/heS
YYTiASk+rxYnG7z1w/KVXgjoU3eQrrCtEOczqRCMzY/YegVYzRxohPswCgYIKoZI
zj0EAwIDRwAwRAIgXsVe0FkmE/SigQHP0HvQ0o+jv04JXTzQjz8Jy2xNbQMCIHCI
Fj5aTc897Qq2uWlP6oSwTToQ/FfkSc2nhrpINGKl
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWaVmQZee+8CulA3S
u2oNyFM86I+s+UdrvaDcfDDck5uhRANCAATRyNRavyPxwrUc8xsQZ1wonN1bwf4X
kmGE4gEpPq8WJxu89cPylV4I6FN3kK6wrRDnM6kQjM2P2HoFWM0caIT7
-----END PRIVATE KEY-----
`,
};

/** The key of `first`, encrypted with a passphrase. */
export const encryptedKey = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgiWEqO06fE9QICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJb0gwN4S+oPScUxCQlnrZIEgZDs
vwiKoq6IWkf2FdXM++NfYK+7aLCTw+EUBB0AGRuwDCzTl1X+1DJQWnd2btAJ6w7l
AGxfoSp4x3jMrDPh04OAUk89YDGZBoazUb3oYVzj9Xw+4Jk+HONQ75/urvmDaUMz
jF165WBWcEPUfjkg9pQcu7Qc4LAY0XusapxSfX53pecLJacISWN9uzItzok3tIQ=
-----END ENCRYPTED PRIVATE KEY-----
`;

/** Writes the two files of a server from `first`. `renew` replaces them the way that tools do. */
export function certificateFiles(t: Test): { settings: TlsFiles; renew(pair: Partial<Pair>): void } {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-tls-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const settings = { certificate_file: join(folder, "fullchain.pem"), key_file: join(folder, "privkey.pem") };
  const put = (file: string, text: string, mode: number) => {
    writeFileSync(`${file}.new`, text);
    chmodSync(`${file}.new`, mode);
    renameSync(`${file}.new`, file);
  };
  const renew = ({ certificate, key }: Partial<Pair>) => {
    if (certificate !== undefined) put(settings.certificate_file, certificate, 0o644);
    if (key !== undefined) put(settings.key_file, key, 0o640);
  };
  renew(first);
  return { settings, renew };
}
