/** Texts of the costs by topic. */
export const topicsTexts = {
  title: "Costs by topic",
  lead: "What Kafka clusters cost, divided among their topics. It is the same money as the chargebacks, seen from another side.",
  /** Costs that belong to no topic. */
  none: "Not attributed",
  groupBy: "By",
  search: "Search",
  measured: "By bytes",
  even: "Evenly, or no topic",
  nothing: "No costs by topic in this period",
  nothingHint:
    "Topics are available for Kafka, for tenants with `topic_attribution: { enabled: true }`. Choose other days if it is enabled.",
  noMatch: "Nothing matches",
  json: "This query in the API",
  methods: {
    bytes_ratio: "by bytes",
    retained_bytes_ratio: "by retained bytes",
    even_split: "evenly",
    terminal: "no topic",
  } as Readonly<Record<string, string>>,
} as const;
