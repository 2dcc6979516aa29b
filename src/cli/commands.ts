import type { CommandEntry } from "./command.js";

/**
 * All commands, in the order of `--help`. Each is loaded on demand, because loading all takes longer than most commands
 * run.
 */
export const commands: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "show it at work: simulated costs, embedded stores, no credentials and no network",
    load: async () => (await import("./demo.js")).demo,
  },
  {
    name: "serve",
    summary: "serve the API and run the pipeline until stopped",
    load: async () => (await import("./serve.js")).serve,
  },
  {
    name: "run",
    summary: "gather, allocate and publish once, then exit",
    load: async () => (await import("./run.js")).run,
  },
  {
    name: "reconcile",
    summary:
      "print billing, chargebacks and their difference per tenant, day and currency; fail unless all are 0",
    load: async () => (await import("./reconcile.js")).reconcile,
  },
  {
    name: "export",
    summary: "write a tenant's chargebacks as CSV",
    load: async () => (await import("./export.js")).exportCsv,
  },
  {
    name: "explain",
    summary: "show how an amount came about: line, rule, tiers, weights and ticks",
    load: async () => (await import("./explain.js")).explain,
  },
  {
    name: "rules",
    summary: "show each allocation rule in order, with the lines of a period that it matched",
    load: async () => (await import("./rules.js")).rulesCommand,
  },
  {
    name: "check-config",
    summary: "check a configuration and print the result, or what its upstreams return",
    load: async () => (await import("./check-config.js")).checkConfig,
  },
  {
    name: "focus-check",
    summary: "check FOCUS cost and usage files against the standard",
    load: async () => (await import("./focus-check.js")).focusCheck,
  },
  {
    name: "migrate",
    summary: "bring the schemas of all stores up to date, or show their state",
    load: async () => (await import("./migrate.js")).migrate,
  },
  {
    name: "backup",
    summary: "write a backup of the embedded stores into a new folder, also while the service runs",
    load: async () => (await import("./backup.js")).backup,
  },
  {
    name: "restore",
    summary: "make an empty data directory from a backup",
    load: async () => (await import("./restore.js")).restore,
  },
  {
    name: "move-tenant",
    summary: "copy a tenant's facts to another database or server, and compare the copy",
    load: async () => (await import("./move-tenant.js")).moveTenant,
  },
  {
    name: "token",
    summary: "create, list and revoke API tokens",
    load: async () => (await import("./token.js")).token,
  },
  {
    name: "grants",
    summary: "print or apply SQL for read-only users of your ClickHouse servers, one for each tenant",
    load: async () => (await import("./grants.js")).grants,
  },
  {
    name: "simulate",
    summary: "simulate upstreams: Confluent Cloud, Flink, Prometheus and the bills of three clouds",
    load: async () => (await import("./simulate.js")).simulate,
  },
  {
    name: "sample-bill",
    summary: "write a simulated AWS bill in FOCUS into a folder, laid out as Data Exports does",
    load: async () => (await import("./sample-bill.js")).sampleBill,
  },
];
