/** The HTTP interface without a client library: status, headers, ways to send a query, authentication. */
import { readdir, rename } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import t from "tap";
import { type EngineUnderTest, sendRequest, startEngine } from "../clickhouse/engine-under-test.js";
import { holds } from "../holds.js";
import { until } from "../until.js";

async function spooledFiles({ dataDir }: EngineUnderTest): Promise<string[]> {
  return (await readdir(join(dataDir, "io"))).filter((name) => !name.startsWith("output-"));
}

t.test("the HTTP interface behaves like that of a ClickHouse server", async (t) => {
  const under = await startEngine(t);
  const { endpoint } = under;
  const read = async (path: string, body?: string) =>
    (await sendRequest(endpoint, path, body === undefined ? {} : { body })).body.toString("utf8");
  await read("/", "CREATE DATABASE d");
  await read("/", "CREATE TABLE d.t (a UInt64, b String) ENGINE = MergeTree ORDER BY a");
  t.beforeEach(async () => void (await read("/", "TRUNCATE TABLE d.t")));

  await t.test("health checks need no password, and HEAD works", async (t) => {
    for (const path of ["/ping", "/", "/replicas_status"]) {
      const { status, body } = await sendRequest(endpoint, path, { method: "GET", anonymous: true });
      t.same({ status, body: body.toString() }, { status: 200, body: "Ok.\n" }, path);
    }
    const head = await sendRequest(endpoint, "/ping", { method: "HEAD", anonymous: true });
    t.same({ status: head.status, length: head.body.length }, { status: 200, length: 0 });
    t.equal((await sendRequest(endpoint, "/?query=SELECT+1", { method: "HEAD" })).status, 200);
    t.equal((await sendRequest(endpoint, "/nowhere")).status, 404);
  });

  await t.test("credentials are accepted as Basic and in headers, but not in the URL", async (t) => {
    const { username, password } = endpoint;
    const anonymous = true;
    const query = "query=SELECT+1";
    t.equal((await sendRequest(endpoint, `/?${query}`)).status, 200);
    t.equal(
      (
        await sendRequest(endpoint, `/?${query}`, {
          anonymous,
          headers: { "X-ClickHouse-User": username, "X-ClickHouse-Key": password },
        })
      ).status,
      200,
    );
    for (const options of [{ anonymous }, {}]) {
      const inUrl = await sendRequest(endpoint, `/?${query}&user=${username}&password=${password}`, options);
      t.equal(inUrl.status, 403);
      t.notOk(inUrl.body.includes(password));
    }
    const none = await sendRequest(endpoint, `/?${query}`, { anonymous });
    holds(t, none, {
      status: 401,
      headers: { "x-clickhouse-exception-code": "194", "www-authenticate": /Basic/ },
    });
    for (const wrong of [
      { password: "" },
      { password: `${password}x` },
      { username: "other" },
      { username: "" },
    ]) {
      const { status, headers, body } = await sendRequest({ ...endpoint, ...wrong }, `/?${query}`);
      holds(
        t,
        { status, headers, body: body.toString() },
        { status: 403, headers: { "x-clickhouse-exception-code": "516" }, body: /\(AUTHENTICATION_FAILED\)/ },
      );
      t.notOk(body.toString().includes(password));
    }
  });

  await t.test("a response has ClickHouse's headers", async (t) => {
    const { status, headers } = await sendRequest(endpoint, "/?query_id=my-id", {
      body: "SELECT 1 AS x FORMAT JSON",
    });
    holds(
      t,
      { status, headers },
      {
        status: 200,
        headers: {
          "content-type": "application/json; charset=UTF-8",
          "x-clickhouse-query-id": "my-id",
          "x-clickhouse-format": "JSON",
          "x-clickhouse-timezone": String,
          "x-clickhouse-server-display-name": String,
          "x-clickhouse-summary": /^\{"read_rows":"\d+",/,
          "x-clickhouse-exception-tag": /^\w{16}$/,
        },
      },
    );
  });

  await t.test("the format is set by FORMAT, default_format or a header", async (t) => {
    t.equal(await read("/", "SELECT 1, 'x'"), "1\tx\n");
    t.equal(await read("/?default_format=CSV", "SELECT 1, 'x'"), '1,"x"\n');
    const { body } = await sendRequest(endpoint, "/", {
      body: "SELECT 1, 'x'",
      headers: { "X-ClickHouse-Format": "JSONCompactEachRow" },
    });
    t.equal(body.toString(), '[1, "x"]\n');
    t.equal(await read("/?default_format=CSV", "SELECT 1 FORMAT TSVWithNames"), "1\n1\n");
    t.match(await read("/?default_format=CSV;DROP", "SELECT 1"), /UNKNOWN_FORMAT/);
  });

  await t.test("the query may be in the URL, in the body, or in both", async (t) => {
    t.equal((await sendRequest(endpoint, "/?query=SELECT+1%2B1", { method: "GET" })).body.toString(), "2\n");
    t.equal(await read("/?query=SELECT%201%20%2B", "2"), "3\n");
    await read("/?query=INSERT+INTO+d.t+FORMAT+CSV", '1,"a"\n2,"b"\n');
    await read("/?query=INSERT+INTO+d.t", "FORMAT TSV\n3\tc\n");
    await read("/?query=INSERT+INTO+d.t+VALUES", "(4, 'd')");
    await read(
      "/?query=INSERT+INTO+d.t+SETTINGS+input_format_skip_unknown_fields=1+FORMAT+JSONEachRow",
      '{"a":5,"b":"e","c":1}',
    );
    await read("/", '/* hello */ insert into d.t (b, a) format CSV\r\n"f",6\r\n');
    await read("/?query=INSERT+INTO+d.t+FORMAT+CSVWithNames", "b,a\ng,7\n");
    t.equal(
      await read("/", "SELECT groupArray(b) FROM (SELECT b FROM d.t ORDER BY a)"),
      "['a','b','c','d','e','f','g']\n",
    );
  });

  await t.test("an insert can select from its own data with input()", async (t) => {
    const query = (select: string) =>
      `/?query=${encodeURIComponent(`INSERT INTO d.t (a, b) SELECT ${select} FORMAT TSV`)}`;
    const each = query("n + 1, b FROM input('b String, n Array(UInt8)') ARRAY JOIN n");
    const { status, headers } = await sendRequest(endpoint, each, { body: "x\t[1,2]\ny\t[]\nz\t[7]\n" });
    holds(t, { status, headers }, { status: 200, headers: { "x-clickhouse-summary": /"written_rows":"3"/ } });
    t.equal(
      await read("/", "SELECT groupArray((a, b)) FROM (SELECT a, b FROM d.t ORDER BY a)"),
      "[(2,'x'),(3,'x'),(8,'z')]\n",
    );
    const broken = await read(each, "x\t[1,\n");
    t.match(broken, /DB::Exception/);
    t.notOk(broken.includes(under.dataDir), "the error contains no path of the data directory");
    await read(query("a, b FROM input('a UInt8, b String')"), "");
    t.equal(await read("/", "SELECT count() FROM d.t"), "3\n");
    t.same(await spooledFiles(under), []);
  });

  await t.test("the engine caches nothing of an insert's data", async (t) => {
    const query = encodeURIComponent("INSERT INTO d.t FORMAT TSV");
    for (const name of ["first", "second"]) await read(`/?query=${query}`, `1\t${name}\n`);
    t.equal(await read("/", "SELECT count() FROM d.t"), "2\n");
    t.equal(await read("/", "SELECT count() FROM system.schema_inference_cache"), "0\n");
  });

  await t.test("the database is set by parameter or header", async (t) => {
    t.equal(await read("/?database=d", "SELECT currentDatabase(), count() FROM t"), "d\t0\n");
    const { body } = await sendRequest(endpoint, "/", {
      body: "SELECT currentDatabase()",
      headers: { "X-ClickHouse-Database": "d" },
    });
    t.equal(body.toString(), "d\n");
    const missing = await sendRequest(endpoint, "/?database=nothing", { body: "SELECT 1" });
    holds(
      t,
      { status: missing.status, body: missing.body.toString() },
      { status: 404, body: /UNKNOWN_DATABASE/ },
    );
    t.equal(
      (
        await sendRequest(endpoint, `/?database=${encodeURIComponent("d`; DROP TABLE d.t")}`, {
          body: "SELECT 1",
        })
      ).status,
      404,
    );
  });

  await t.test("errors have ClickHouse's status codes", async (t) => {
    const expected: readonly (readonly [path: string, body: string, status: number, code: string])[] = [
      ["/", "SELECT * FROM nothing", 404, "60"],
      ["/", "selekt", 400, "62"],
      ["/", "", 400, "62"],
      ["/", "SELECT 1; SELECT 2", 400, "62"],
      ["/", "SELECT 1 \0 + 1", 400, "62"],
      ["/?nonsense=1", "SELECT 1", 404, "115"],
      [
        "/?max_execution_time=1",
        "SELECT count() FROM numbers(100000000000) WHERE NOT ignore(sipHash64(number))",
        408,
        "159",
      ],
      ["/", "SELECT throwIf(1)", 500, "395"],
      ["/?session_id=x&session_check=1", "SELECT 1", 500, "372"],
      ["/?session_id=x&session_timeout=100000", "SELECT 1", 500, "374"],
      ["/?role=admin", "SELECT 1", 404, "511"],
    ];
    for (const [path, body, status, code] of expected) {
      const got = await sendRequest(endpoint, path, { body });
      holds(
        t,
        got,
        { status, headers: { "x-clickhouse-exception-code": code } },
        JSON.stringify([path, body]),
      );
      t.match(
        got.body.toString(),
        new RegExp(`^Code: ${code}\\. DB::Exception: [^]*\\([A-Z_]+\\) \\(version [\\d.]+\\)\\n$`),
      );
    }
    t.notMatch(
      await read("/", "SELECT 1 FROM x WHERE ("),
      /OUTFILE '|query_id:/,
      "the error contains nothing that we added to the statement",
    );
  });

  await t.test("an error after the first byte sends the exception block and breaks the body", async (t) => {
    const { status, headers, body, broken } = await sendRequest(endpoint, "/", {
      body: "SELECT number, throwIf(number = 1000000, 'too late') FROM numbers(10000000)",
    });
    holds(t, { status, broken }, { status: 200, broken: true });
    const tag = headers["x-clickhouse-exception-tag"];
    const tail = body.subarray(-2000).toString("utf8");
    const block = new RegExp(
      `\\r\\n__exception__\\r\\n${tag}\\r\\n(Code: 395[^]*\\n)(\\d+) ${tag}\\r\\n__exception__\\r\\n$`,
    ).exec(tail);
    t.match(block?.[1] ?? "", /too late/);
    t.equal(Number(block?.[2]), Buffer.byteLength(block?.[1] ?? ""));
  });

  await t.test(
    "with wait_end_of_query nothing is sent before the end, so the status is correct",
    async (t) => {
      const late = await sendRequest(endpoint, "/?wait_end_of_query=1", {
        body: "SELECT number, throwIf(number = 1000000) FROM numbers(10000000)",
      });
      holds(t, late, { status: 500, broken: false, headers: { "x-clickhouse-exception-code": "395" } });
      const whole = await sendRequest(endpoint, "/?wait_end_of_query=1", {
        body: "SELECT number FROM numbers(1000000)",
      });
      holds(t, whole, {
        status: 200,
        broken: false,
        headers: { "x-clickhouse-summary": /"result_rows":"1000000"/ },
      });
      t.equal(whole.body.length, 6_888_890);
      t.same(await spooledFiles(under), []);
    },
  );

  await t.test("a GET request cannot change anything", async (t) => {
    for (const query of [
      "INSERT INTO d.t VALUES (1, 'x')",
      "DROP TABLE d.t",
      "INSERT INTO d.t SELECT 1, 'x'",
      "SYSTEM JEMALLOC PURGE",
      "KILL QUERY WHERE 0",
    ]) {
      const { status, body } = await sendRequest(endpoint, `/?query=${encodeURIComponent(query)}`, {
        method: "GET",
      });
      holds(t, { status, body: body.toString() }, { status: 500, body: /\(READONLY\)/ }, query);
    }
    t.equal(await read("/", "SELECT count() FROM d.t"), "0\n");
  });

  await t.test("gzip is accepted by Content-Encoding, and sent if requested", async (t) => {
    const rows = Array.from({ length: 10_000 }, (_, a) => `${a}\tx\n`).join("");
    const sent = await sendRequest(endpoint, "/?query=INSERT+INTO+d.t+FORMAT+TSV", {
      body: gzipSync(rows),
      headers: { "Content-Encoding": "gzip" },
    });
    holds(t, sent, { status: 200, headers: { "x-clickhouse-summary": /"written_rows":"10000"/ } });
    const requested = { body: "SELECT * FROM d.t ORDER BY a", headers: { "Accept-Encoding": "gzip" } };
    const got = await sendRequest(endpoint, "/?enable_http_compression=1", requested);
    t.equal(got.headers["content-encoding"], "gzip");
    t.equal(gunzipSync(got.body).toString(), rows);
    t.equal((await sendRequest(endpoint, "/", requested)).headers["content-encoding"], undefined);
    const cutOff = await sendRequest(endpoint, "/?query=INSERT+INTO+d.t+FORMAT+TSV", {
      body: gzipSync(rows).subarray(0, 500),
      headers: { "Content-Encoding": "gzip" },
    });
    t.not(cutOff.status, 200);
    t.equal(await read("/", "SELECT count() FROM d.t"), "10000\n");
    const unknown = await sendRequest(endpoint, "/", {
      body: "SELECT 1",
      headers: { "Content-Encoding": "snappy" },
    });
    holds(t, unknown, { status: 501 });
  });

  await t.test("an upload whose connection breaks inserts nothing and leaves no file", async (t) => {
    const authorization = Buffer.from(`${endpoint.username}:${endpoint.password}`).toString("base64");
    const socket = connect(endpoint.socketPath);
    socket.write(
      `POST /?query=INSERT+INTO+d.t+FORMAT+TSV HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${authorization}\r\nContent-Length: 1000000\r\n\r\n`,
    );
    socket.write("1\tx\n".repeat(10_000));
    await until("the upload to be spooled", async () => (await spooledFiles(under)).length === 1);
    socket.destroy();
    await until("the file to be gone", async () => (await spooledFiles(under)).length === 0);
    t.equal(await read("/", "SELECT count() FROM d.t"), "0\n");
  });

  await t.test(
    "a response that cannot be buffered to its end is an error of its own query only",
    async (t) => {
      const io = join(under.dataDir, "io");
      await rename(io, `${io}.away`);
      const failed = await sendRequest(endpoint, "/?wait_end_of_query=1", {
        body: "SELECT number FROM numbers(3)",
      });
      await rename(`${io}.away`, io);
      t.equal(failed.status, 500);
      t.match(
        failed.body.toString(),
        /^Code: 243\. DB::Exception: The response could not be buffered to its end: ENOENT\. /,
      );
      t.equal(await read("/?wait_end_of_query=1", "SELECT 1"), "1\n");
      t.same(await spooledFiles(under), []);
    },
  );

  await t.test("a query id that is too long, or that a header cannot contain, is refused", async (t) => {
    for (const id of ["a\nb", "\u0394", " a", "a".repeat(201)]) {
      const { status } = await sendRequest(endpoint, `/?query_id=${encodeURIComponent(id)}`, {
        body: "SELECT 1",
      });
      t.equal(status, 400, JSON.stringify(id));
    }
    for (const id of ["a", "\u00e9 \u00fc", "a".repeat(200)]) {
      const { headers } = await sendRequest(endpoint, `/?query_id=${encodeURIComponent(id)}`, {
        body: "SELECT 1",
      });
      t.equal(
        headers["x-clickhouse-query-id"],
        id,
        "the response has the id in a form that headers can contain",
      );
    }
  });

  await t.test("a query id can run only once at a time, unless the request replaces it", async (t) => {
    const slow = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))";
    const first = sendRequest(endpoint, "/?query_id=same", { body: slow });
    await until(
      "the query to run",
      async () => (await read("/", "SELECT count() FROM system.processes")) === "2\n",
    );
    const second = await sendRequest(endpoint, "/?query_id=same", { body: "SELECT 1" });
    holds(t, second, { headers: { "x-clickhouse-exception-code": "216" } });
    t.equal(await read("/?query_id=same&replace_running_query=1", "SELECT 1"), "1\n");
    holds(t, await first, { headers: { "x-clickhouse-exception-code": "394" } });
  });

  await t.test("more queries than slots all get a response", async (t) => {
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, index) => read("/", `SELECT ${index}, sleep(0.05)`)),
    );
    t.same(
      responses,
      responses.map((_, index) => `${index}\t0\n`),
    );
  });
});
