/**
 * Files that `npm test` leaves out, each with the reason. `npm test -- --all` and the nightly job run them as well.
 * None of them is the only guard of money, access or data: everything else runs on every change.
 */
interface LeftOut {
  readonly file: string;
  /**
   * A soak repeats random cases until something rare happens, a benchmark measures, and a walk follows a page of the
   * documentation or the console like a user.
   */
  readonly kind: "soak" | "benchmark" | "walk";
  readonly why: string;
}

export const longTests: readonly LeftOut[] = [
  {
    file: "embedded-clickhouse/sql-port-stuck.test.ts",
    kind: "soak",
    why: "keeps the processors busy with statements that cannot be stopped, and measures whether others still run",
  },
  {
    file: "config/fuzz.test.ts",
    kind: "soak",
    why: "draws thousands of configurations; each rule has its own test",
  },
  {
    file: "e2e/faulty-upstream.test.ts",
    kind: "soak",
    why: "whole runs through a network that breaks at random",
  },
  {
    file: "http/fuzz.test.ts",
    kind: "soak",
    why: "draws requests to every route at random; each parameter has its own test",
  },
  {
    file: "http/freed-queries.test.ts",
    kind: "soak",
    why: "needs eight statements to run at the same moment within a time limit of two seconds",
  },
  { file: "leaks/leaks.test.ts", kind: "soak", why: "repeats requests until growth of memory would show" },
  {
    file: "runner/cut-connections.test.ts",
    kind: "soak",
    why: "cuts the connections to Postgres at one statement after another",
  },
  {
    file: "runner/failing-hosts.test.ts",
    kind: "soak",
    why: "ends a host of a cluster at one statement after another",
  },
  { file: "runner/full-disk.test.ts", kind: "soak", why: "fills a disk of its own again and again" },
  { file: "runner/full-postgres-disk.test.ts", kind: "soak", why: "fills a disk of its own again and again" },
  {
    file: "runner/kill-at-migrations.test.ts",
    kind: "soak",
    why: "kills a process at one statement after another",
  },
  {
    file: "runner/kill-at-notes.test.ts",
    kind: "soak",
    why: "kills a process at one statement after another",
  },
  {
    file: "runner/kill-at-other-stages.test.ts",
    kind: "soak",
    why: "kills a process at one statement after another",
  },
  {
    file: "runner/kill-at-result-swaps.test.ts",
    kind: "soak",
    why: "kills a process at one statement after another",
  },
  {
    file: "runner/kill-at-swaps.test.ts",
    kind: "soak",
    why: "kills a process at one statement after another; publish-crash.test.ts and kill.test.ts run on every change",
  },
  { file: "runner/moving-clock.test.ts", kind: "soak", why: "draws histories of a clock that jumps" },
  {
    file: "runner/readers-under-kills.test.ts",
    kind: "soak",
    why: "kills the engine in the middle of runs again and again; publish-crash.test.ts and one-step.test.ts run on every change",
  },
  {
    file: "runner/readers.test.ts",
    kind: "soak",
    why: "reads for minutes while days are published; one-step.test.ts runs on every change",
  },
  { file: "http/many-tenants.test.ts", kind: "benchmark", why: "measures 50 tenants on one store" },
  { file: "http/slow-clients.test.ts", kind: "benchmark", why: "waits for time limits to pass" },
  {
    file: "embedded-clickhouse/linear.test.ts",
    kind: "benchmark",
    why: "measures how time grows with the length of a text",
  },
  { file: "cli/demo.test.ts", kind: "walk", why: "walks through the demo, which CI runs as well" },
  { file: "cli/terminal.test.ts", kind: "walk", why: "looks at the output on terminals of several widths" },
  { file: "console/accessibility.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/answers.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/assignments.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/bills.test.ts", kind: "walk", why: "walks through the console in a browser" },
  {
    file: "console/console-walks.test.ts",
    kind: "walk",
    why: "walks through the console in a browser; console.test.ts checks its figures on every change",
  },
  { file: "console/explorer.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/navigation.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/overview.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/states.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/settings.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/statement.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/tags.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/tls.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/topics.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/why.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/why-sum.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "console/worklist.test.ts", kind: "walk", why: "walks through the console in a browser" },
  { file: "deploy/package.test.ts", kind: "walk", why: "installs the package" },
  { file: "deploy/production.test.ts", kind: "walk", why: "walks through a how-to on a Debian machine" },
  { file: "docs/charge-kubernetes.test.ts", kind: "walk", why: "walks through a how-to" },
  { file: "docs/overlapping-bills.test.ts", kind: "walk", why: "walks through a how-to" },
  { file: "docs/shared-platforms.test.ts", kind: "walk", why: "walks through a how-to" },
  { file: "docs/how-to.test.ts", kind: "walk", why: "walks through the how-tos" },
  { file: "docs/readme.test.ts", kind: "walk", why: "walks through the README" },
  { file: "docs/tutorial.test.ts", kind: "walk", why: "walks through the tutorial" },
  { file: "http/browsers.test.ts", kind: "walk", why: "opens the API's pages in a browser" },
  {
    file: "http/clients/clients.test.ts",
    kind: "walk",
    why: "generates and builds clients in other languages",
  },
  {
    file: "http/description-lint.test.ts",
    kind: "walk",
    why: "runs a linter over the description of the API",
  },
  { file: "http/docs-page.test.ts", kind: "walk", why: "opens the API's pages in a browser" },
  { file: "project/examples.test.ts", kind: "walk", why: "starts what the examples describe" },
  {
    file: "runner/first-day-real.test.ts",
    kind: "walk",
    why: "walks through a first day with a real Prometheus",
  },
  {
    file: "runner/focus-demo.test.ts",
    kind: "walk",
    why: "walks through the demo's bills, which CI runs as well",
  },
];
