/** Columns of listed rows that only cloud bills fill, with the values that other bills have. */
export const notOfCloud = {
  charge_category: "",
  service_provider: "",
  account_id: "",
  region_id: "",
  sku_id: "",
  line_tags: {},
  rule: "",
};
/** The same columns for lines of the bill. */
export const lineNotOfCloud = {
  ...notOfCloud,
  billed_cost: "0",
  effective_cost: "0",
  list_cost: "0",
  named_identity: "",
};
