/** What lists show of rows whose bill says no more of its lines. */
export const notOfCloud = {
  charge_category: "",
  service_provider: "",
  account_id: "",
  region_id: "",
  sku_id: "",
  line_tags: {},
  rule: "",
};
/** The same of lines of the bill. */
export const lineNotOfCloud = { ...notOfCloud, billed_cost: "0", list_cost: "0", named_identity: "" };
