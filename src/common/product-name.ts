/** Products and resources of a bill in sentences. */

/** Abbreviations that product types are written with. */
export const abbreviations: Readonly<Record<string, string>> = {
  API: "API",
  CFU: "CFU",
  CFUS: "CFUs",
  CKU: "CKU",
  CKUS: "CKUs",
  CPU: "CPU",
  CSU: "CSU",
  CSUS: "CSUs",
  KSQL: "ksqlDB",
  REST: "REST",
  USM: "USM",
};

/** `KAFKA_NETWORK_READ` becomes `Kafka network read`. A name in any other spelling stays as it is. */
export function productName(type: string): string {
  if (!/^[A-Z][A-Z0-9_]{4,}$/.test(type)) return type;
  const words = type
    .replace(/^SELF_KAFKA/, "SELF-MANAGED_KAFKA")
    .split("_")
    .filter((word) => word !== "NUM")
    .map((word, at) => abbreviations[word] ?? (at === 0 ? capitalized(word) : word.toLowerCase()));
  return words.join(" ").replace("managed kafka", "managed Kafka");
}

const capitalized = (word: string) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`;

/** Some lines of a bill have no resource. Their id is a text of the gatherer. */
export function isOfNoResource(id: string): boolean {
  return id === "" || /^(no_resource|malformed_billing):/.test(id);
}
