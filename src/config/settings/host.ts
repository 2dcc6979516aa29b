/** Normalizes host names for comparison, because one machine has several spellings. */

/** An IPv4 address inside IPv6, such as `::ffff:7f00:1`, as URLs write it. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

function unmapped(address: string): string {
  const [, high, low] = MAPPED.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((word) => [word >> 8, word & 255]).join(".");
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"];

/**
 * Returns one spelling for a host that `URL.hostname` returned (lower case, punycode, dotted IPv4, compressed IPv6 in
 * brackets).
 */
export function canonicalHost(hostname: string): string {
  const address = unmapped(hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1")).replace(/\.$/, "");
  return LOOPBACK.includes(address) ? "localhost" : address;
}
