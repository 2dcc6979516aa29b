import { mutantsOf, template } from "./mutant.js";

const gate = ["test/stores/backup-lock.test.ts"];
const secrets = ["test/common/known-secrets.test.ts"];
const limits = ["test/http/rate-limits.test.ts"];
const certificates = ["test/common/certificate.test.ts"];
const tls = ["test/http/tls.test.ts"];
const sqlTools = ["test/embedded-clickhouse/sql-port-tools.test.ts"];
const sqlAttacks = ["test/embedded-clickhouse/sql-port-attacks.test.ts"];
const sqlPort = ["test/embedded-clickhouse/sql-port-limits.test.ts"];

/** Mutants of access control and of the protection of secrets. */
const signOn = ["test/http/sign-on.test.ts"];
const damage = ["test/stores/facts/damage.test.ts"];
const modest = ["test/http/modest-json.test.ts"];
const fullDisk = ["test/runner/full-postgres-disk.test.ts"];

export const guardMutants = [
  ...mutantsOf(
    "src/http/auth/cookies.ts",
    ["test/http/sessions.test.ts"],
    [
      ["the cookie counts for every page", " && isOfOwnPage(request) ? secret", " ? secret"],
      [
        "an origin of plain HTTP proves a change over TLS",
        ` && !(protocol === "https" && /^http:/i.test(origin))`,
        "",
      ],
      ["the first of two cookies counts", "values.length === 1 ? values[0] : undefined", "values[0]"],
    ],
  ),
  ...mutantsOf(
    "src/postgres/sessions.ts",
    ["test/http/sessions.test.ts"],
    [
      [
        "the former secret ends at once",
        " OR s.former_hash = $1 AND (s.former_until IS NULL OR s.former_until > now())",
        "",
      ],
      ["parallel requests rotate twice", " AND s.secret_hash = found.secret_hash", ""],
      ["a revoked token keeps its sessions", "t.revoked_at IS NULL AND ", ""],
    ],
  ),
  ...mutantsOf(
    "src/http/plugins/sign-in.ts",
    ["test/http/issuer-sign-in.test.ts"],
    [["a sign-in ends at any address", `isPage ? pathname + search : "/"`, "given"]],
  ),
  ...mutantsOf(
    "src/http/auth/issuer-sign-in.ts",
    ["test/http/issuer-sign-in.test.ts"],
    [["the nonce is not checked", "expectedNonce: nonce, ", ""]],
  ),
  ...mutantsOf("src/http/auth/authenticate.ts", signOn, [
    [
      "the user name of Basic authentication is taken for the token",
      'credentials.slice(credentials.indexOf(":") + 1)',
      'credentials.slice(0, credentials.indexOf(":"))',
    ],
  ]),
  ...mutantsOf("src/http/input/json-body.ts", modest, [
    ["a backslash does not escape a quote", "if (byte === BACKSLASH) at += 1;\n      else if", "if"],
    ["levels that end count on", "else if (CLOSING.has(byte)) levels -= 1;", ""],
  ]),
  ...mutantsOf("src/stores/facts/damage.ts", damage, [
    ["a part without its checksum passes", "is_passed === 1 ? [] : [periodOf(part_path)]", "[]"],
  ]),
  ...mutantsOf("src/stores/backup-lock.ts", gate, [
    [
      "a pause does not wait for changes that have begun",
      "for (const change of begun) await ended(change, signal);",
      "",
    ],
    [
      "a change begins within a pause",
      "while (paused !== undefined) await ended(paused, signal);\n      signal.throwIfAborted();\n      const change",
      "signal.throwIfAborted();\n      const change",
    ],
    ["changes are not remembered", "changes.add(change);", ""],
  ]),
  ...mutantsOf("src/common/known-secrets.ts", secrets, [
    ["a secret in base64 is shown", "[0, 1, 2]\n", "[0]\n"],
    ["a secret in an address is shown", "    encoded,\n", ""],
    ["a secret in a form is shown", 'encoded.replaceAll("%20", "+")', "encoded"],
    ["a secret within another is hidden first", "b.length - a.length", "a.length - b.length"],
    ["a secret is a pattern", '.map((form) => form.replace(/[\\\\^$.*+?()[\\]{}|/]/g, "\\\\$&"))', ""],
    [
      "lists are left as they are",
      "if (Array.isArray(value)) return value.map(deepWithoutSecrets);",
      "if (Array.isArray(value)) return value;",
    ],
  ]),
  ...mutantsOf(
    "src/allocate/calculate.ts",
    ["test/runner/lost-engine.test.ts"],
    [
      ["a lost store gets no second request", "if (!isLostConnection(error)) throw error;", "throw error;"],
      [
        "a store that goes away twice is the run's end",
        "if (!isLostConnection(error) || !(await isBack(calculation))) throw error;",
        "throw error;",
      ],
    ],
  ),
  ...mutantsOf("src/common/tls/certificate.ts", certificates, [
    ["a key that everybody reads is taken", "const OTHERS = 0o007;", "const OTHERS = 0o002;"],
    [
      "a key of another certificate is taken",
      "!x509.checkPrivateKey(privateKey)",
      "x509.checkPrivateKey(privateKey) === undefined",
    ],
    [
      "the certificate has to be kept secret",
      'await read("certificate_file", true)',
      'await read("certificate_file", false)',
    ],
  ]),
  ...mutantsOf("src/common/tls/certificate.ts", tls, [["TLS 1.1 is spoken", '"TLSv1.2"', '"TLSv1.1"']]),
  ...mutantsOf("src/common/tls/renewal.ts", certificates, [
    ["files are never read again by themselves", "      await check();\n", ""],
    [
      "a problem is reported again and again",
      "if (message !== problem) onProblem(message);",
      "onProblem(message);",
    ],
  ]),
  ...mutantsOf("src/http/server/tls-servers.ts", tls, [
    ["a renewed certificate is not served", "server.setSecureContext(renewed.options);", "void server;"],
  ]),
  ...mutantsOf("src/http/auth/failed-sign-ons.ts", limits, [
    ["nobody waits", "if (state.isAllowed || state.remaining > 0) return;", "return;"],
    ["who was let in before has to wait", "|| good.has(digest)) return;", ") return;"],
    ["a revoked token still passes", "      good.delete(digest);\n      const state", "      const state"],
  ]),
  ...mutantsOf("src/http/plugins/rate-limits.ts", limits, [
    [
      "a token is counted by its address",
      "name === null ? addressOf(request)",
      "name !== undefined ? addressOf(request)",
    ],
    [
      "probes are counted",
      'if (request.is404 || scope === "public" || quiet === true) return;',
      "if (request.is404) return;",
    ],
  ]),
  ...mutantsOf("src/http/app.ts", limits, [
    [
      "any client says what its address is",
      "proxyCheck([...api.trusted_proxies, ...(api.proxy?.addresses ?? [])])",
      "true",
    ],
  ]),
  ...mutantsOf(
    "src/http/plugins/security-headers.ts",
    ["test/http/security-headers.test.ts"],
    [["browsers keep to TLS that there is not", "isSecure && HSTS", "HSTS"]],
  ),
  ...mutantsOf(
    "src/embedded-clickhouse/server/sql-port/roles.ts",
    ["test/embedded-clickhouse/sql-port-roles.test.ts"],
    [
      ["a role reads every database", template("`SELECT ON @{identifier(database)}.*`"), '"SELECT ON *.*"'],
      [
        "a role may write",
        template("`SELECT ON @{identifier(database)}.*`"),
        template("`ALL ON @{identifier(database)}.*`"),
      ],
      ["all users share a role", template('`reader_@{Buffer.from(user).toString("hex")}`'), '"reader_all"'],
    ],
  ),
  ...mutantsOf("src/embedded-clickhouse/server/sql-port/session.ts", sqlTools, [
    [
      "a statement runs in every role",
      template("    await session.run(`SET ROLE @{identifier(roleOf(user.user))}`);\n"),
      "",
    ],
    ["a statement may set what it wants", ", readonly = 1`", "`"],
    [
      "a client's filter takes the place of ours",
      "[...catalogFilters(user.databases), ...filters]",
      "[...filters, ...catalogFilters(user.databases)]",
    ],
    ["a lowered time counts for nothing", "text: admitted.text, maxSeconds,", "text: admitted.text,"],
  ]),
  ...mutantsOf("src/embedded-clickhouse/server/sql-port/session-cache.ts", sqlTools, [
    ["users share their sessions", "users.get(user) ?? new", "[...users.values()][0] ?? new"],
  ]),
  ...mutantsOf("src/embedded-clickhouse/supervisor.ts", sqlTools, [
    ["the engine's time zone is the host's", 'TZ: "UTC",', "TZ: process.env.TZ,"],
  ]),
  ...mutantsOf("src/embedded-clickhouse/server/sql-port/check-words.ts", sqlAttacks, [
    ["the names that parameters bring are not checked", "    checkName(value, false, engine);\n", ""],
    ["a part of a statement may have settings", "if (!isLast)", "if (next === null)"],
    ["APPLY hides tables", 'if (written === "APPLY") throw', 'if (written === "apply") throw'],
  ]),
  ...mutantsOf("src/embedded-clickhouse/server/sql-port/admitted-functions.ts", sqlAttacks, [
    ["a function that is not in the list is admitted", "if (known.has(rest)) return true;", ""],
    ["a combinator hides a function", "rest = shorter;", "return false;"],
  ]),
  ...mutantsOf("src/embedded-clickhouse/server/sql-port/check-tables.ts", sqlAttacks, [
    ["a table behind IN is not checked", ' || (node.kind === "Identifier" && isArgument)', ""],
    ["another tenant's table is named in errors", "  checkDatabase(first, databases);\n}", "}"],
  ]),
  ...mutantsOf("src/embedded-clickhouse/server/execute.ts", sqlAttacks, [
    [
      "EXPLAIN shows the engine's folder",
      'if (statement.verb === "EXPLAIN") return { sql: slice(0, statement.end), insertions: [] };',
      "",
    ],
  ]),
  ...mutantsOf(
    "src/embedded-clickhouse/server/sql-port/connections.ts",
    ["test/embedded-clickhouse/sql-port-connections.test.ts"],
    [
      ["idle connections lock others out", "if (open.size >= maxConnections) makeRoom();", ""],
      ["a connection is closed while it runs something", "running === 0", "running >= 0"],
      ["whoever signed on loses the connection first", "anonymous.length > 0 ? anonymous : idle", "idle"],
      [
        "one address closes the connections of others",
        "countOf(connection) === most",
        "connection.running === 0",
      ],
      [
        "a sign-on is waited for without end",
        "() => socket.destroy(), signOnMs",
        "() => undefined, signOnMs",
      ],
    ],
  ),
  ...mutantsOf("src/embedded-clickhouse/server/sql-port/failed-sign-ons.ts", sqlPort, [
    ["passwords are tried out as fast as they come", "current.count >= MAX_FAILURES", "current.count < 0"],
    ["everything is remembered", "max: maxEntries", "max: maxEntries + 1"],
  ]),
  ...mutantsOf(
    "src/clickhouse/reader-rights.ts",
    ["test/cli/grants.test.ts"],
    [
      [
        "0 lifts a limit",
        template("@{setting} = @{limit} MIN 1 MAX @{limit}"),
        template("@{setting} = @{limit} MAX @{limit}"),
      ],
      ["a table of a view is not granted", '  "publishing_days",\n', ""],
    ],
  ),
  ...mutantsOf(
    "src/export/reader-pace.ts",
    ["test/query/slow-export.test.ts"],
    [["who reads nothing is waited for", "addAbortSignal(idle.signal, stream)", "stream"]],
  ),
  ...mutantsOf(
    "src/runner/window.ts",
    ["test/runner/window.test.ts"],
    [
      ["a day of the cutoff is gathered", "addDays(today, -cutoffDays)", "addDays(today, 1 - cutoffDays)"],
      [
        "the last day of the lookback is not gathered",
        "addDays(today, -lookbackDays)",
        "addDays(today, 1 - lookbackDays)",
      ],
      ["the first day that can be stored is refused", "start >= FIRST_DAY", "start > FIRST_DAY"],
      ["the last day that can be stored is refused", "last <= LAST_DAY", "last < LAST_DAY"],
    ],
  ),
  ...mutantsOf(
    "src/runner/gather.ts",
    ["test/runner/cut-connections.test.ts"],
    [["a Postgres that went away is the upstream's fault", "if (isLostPostgres(error)) throw error;", ""]],
  ),
  ...mutantsOf(
    "src/common/lost-connection.ts",
    ["test/postgres/client.test.ts", "test/runner/postgres-over-tcp.test.ts"],
    [["an error of Postgres over TCP is taken for an upstream's", "ofPostgres.add(error);", ""]],
  ),
  ...mutantsOf("src/runner/unrecorded-results.ts", fullDisk, [
    [
      "an end that could not be recorded is forgotten",
      "unrecorded.set(postgres, statements.set(tenantName, statement));",
      "",
    ],
  ]),
  ...mutantsOf("src/tags/known-dimensions.ts", fullDisk, [
    ["a bulk leaves out what Postgres has no room for", "if (isPostgresFault(error)) throw error;", ""],
  ]),
  ...mutantsOf("src/embedded-postgres/disk-full.ts", fullDisk, [
    ["room is not looked for", "freeOn(cluster) >= wanted", "false"],
  ]),
  ...mutantsOf("src/stores/open-stores.ts", fullDisk, [
    ["the reason why Postgres is down is not reported", "() => embedded?.outage", "() => undefined"],
  ]),
  ...mutantsOf("src/cli/serve.ts", fullDisk, [
    ["a start does not wait for room", "!isDiskFull(error) || signal.aborted", "error !== undefined"],
  ]),
  ...mutantsOf(
    "src/runner/check-clock.ts",
    ["test/runner/check-clock.test.ts"],
    [
      ["a pause of 30 days is too long", "pause > LONGEST_PAUSE_DAYS", "pause >= LONGEST_PAUSE_DAYS"],
      ["force_gather does not confirm a clock", " || request.forceGather === true", ""],
    ],
  ),
  ...mutantsOf(
    "src/runner/run-stages.ts",
    ["test/runner/clock.test.ts"],
    [["the clock is looked at twice", "const today = dayOf(clock);", "const today = dayOf(run.now());"]],
  ),
];
