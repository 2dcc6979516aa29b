export { type CloudBills, startCloudBills, writeAwsBill } from "./bills/cloud-bills.js";
export { CLOUD_BILLS_TENANT, cloudBillsTenant } from "./bills/tenant.js";
export { type ApiFaultText, apiFaultKinds, readApiFault } from "./confluent/api-fault-text.js";
export type { ApiFault } from "./confluent/api-faults.js";
export { type ConfluentCloud, type ConfluentCloudOptions, startConfluentCloud } from "./confluent/cloud.js";
export { type MalformedKind, malformedKinds } from "./confluent/malformed.js";
export { confluentTenant } from "./confluent/tenant.js";
export { type Size, sizes } from "./organisation.js";
export { type SimulatedTenant, selfManagedTenant, simulatedTenants } from "./tenants.js";
