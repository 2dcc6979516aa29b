/**
 * Settings of a `confluent_cloud` tenant: the keys of the organisation's APIs, how the bill is requested, and the
 * parameters of its allocation.
 */
import { type Static, Type } from "@sinclair/typebox";
import { minus, parseExact, plus } from "../../../common/exact-decimal.js";
import { parseNonNegativeDecimal } from "../../../config/reader/decimal.js";
import { integer, list, mapping, type Parsed, section, text } from "../../../config/reader/setting.js";
import { parseBaseUrl } from "../../../config/reader/url.js";
import type { EcosystemSettings } from "../../../config/settings/ecosystem-settings.js";
import { topicAttributionRefusals } from "../../../config/settings/topic-attribution.js";
import { topicSettings } from "./topic-settings.js";

const key = (description: string) => text({ description, maxLength: 1000, inert: true });
const secret = (description: string) => text({ description, maxLength: 1000, secret: true });

const ADDRESS = {
  expected: "an address such as https://host:9090/prefix, without credentials",
  maxLength: 2000,
  parse: parseBaseUrl,
};

const REGION = {
  expected: "a region as the API names it, such as us-east-1, without the cloud in front",
  pattern: "^[a-z0-9][a-z0-9-]{0,99}$",
  parse: (written: string): Parsed => ({ value: written.trim().toLowerCase() }),
};

const flinkRegion = mapping(
  {
    region_id: text({
      ...REGION,
      description:
        "The region of the compute pools that this key is for. Upper case is the same as lower case.",
    }),
    key: key("The Flink API key of the region."),
    secret: secret("Its secret."),
    base_url: Type.Optional(
      text({
        ...ADDRESS,
        description: "The address of the region's Flink API, if it is not the vendor's own.",
      }),
    ),
  },
  { description: "One region of Flink." },
);

/** Format of a ratio, with as many decimals as an allocation rule allows. */
const RATIO = {
  unit: "share of the line",
  expected: "a decimal from 0 to 1, with at most 6 decimals",
  pattern: "^(0(\\.\\d{1,6})?|1)$",
  decimal: true,
  parse: parseNonNegativeDecimal,
};

const allocatorParams = section(
  {
    kafka_cku_usage_ratio: text({
      ...RATIO,
      description: "For CKU lines: the part that is split by measured bytes.",
      default: "0.7",
    }),
    kafka_cku_shared_ratio: text({
      ...RATIO,
      description: "For CKU lines: the part that is divided evenly.",
      default: "0.3",
    }),
  },
  {
    description: "Parameters of the allocation.",
    rules: [
      {
        rule:
          "`kafka_cku_usage_ratio` and `kafka_cku_shared_ratio` sum to 1 ± 0.0001; the one that is not given keeps its " +
          "default.",
        check({ kafka_cku_usage_ratio: usage, kafka_cku_shared_ratio: shared }, report) {
          if (usage === undefined || shared === undefined || sumsToOne(usage, shared)) return;
          report(
            ["kafka_cku_usage_ratio"],
            `must sum to 1 with kafka_cku_shared_ratio (${shared}), which ${usage} does not`,
          );
        },
      },
    ],
  },
);

function sumsToOne(usage: string, shared: string): boolean {
  const [a, b] = [parseExact(usage), parseExact(shared)];
  if (a === undefined || b === undefined) return false;
  const { units, scale } = minus(plus(a, b), { units: 1n, scale: 0 });
  return (units < 0n ? -units : units) * 10_000n <= 10n ** BigInt(scale);
}

const settings = mapping(
  {
    ccloud_api: mapping(
      {
        key: key("The Cloud resource management API key of the organisation."),
        secret: secret("Its secret."),
        base_url: text({
          ...ADDRESS,
          description: "The address of the Cloud API, or of a gateway to it.",
          default: "https://api.confluent.cloud",
        }),
      },
      { description: "Access to the organisation's resources, identities and costs." },
    ),
    billing_api: section(
      {
        days_per_query: integer({
          description:
            "The maximum number of days in one query of the bill. No query crosses the end of a month.",
          unit: "days",
          minimum: 1,
          maximum: 30,
          default: 15,
        }),
      },
      { description: "How the bill is requested." },
    ),
    flink: list(flinkRegion, {
      description:
        "The keys of Flink, one for each region. The statements of a region without a key are unknown.",
      expected: "a list of at most 100 regions",
      maxItems: 100,
      uniqueBy: "region_id",
      default: [],
    }),
    allocator_params: allocatorParams,
    topic_attribution: topicSettings,
  },
  { description: "A Confluent Cloud organisation." },
);

export type ConfluentCloudSettings = Static<typeof settings>;
export type FlinkRegionSettings = ConfluentCloudSettings["flink"][number];

export const confluentCloudSettings: EcosystemSettings<typeof settings> = {
  description: "`confluent_cloud`: an organisation of Confluent Cloud, with its own bill.",
  settings,
  refusals: [
    ...topicAttributionRefusals,
    {
      rule:
        "`metrics.url` is a Prometheus, not the vendor's own `api.telemetry.confluent.cloud`, which has no hourly " +
        "queries.",
      check({ metrics }, report) {
        if (metrics?.url === undefined || new URL(metrics.url).hostname !== TELEMETRY_HOST) return;
        report(
          ["metrics", "url"],
          `must be a Prometheus that scrapes the vendor's metrics; ${TELEMETRY_HOST} is where it scrapes them`,
        );
      },
    },
  ],
};

const TELEMETRY_HOST = "api.telemetry.confluent.cloud";
