import t from "tap";
import { createHostChoice, NoHostError } from "../../../src/clickhouse/replicas/host-choice.js";
import { promise } from "../../promise.js";

const urls = ["http://a:1", "http://b:2", "http://c:3"];

function choice(broken = new Set<string>()) {
  const prepared: string[] = [];
  const changes: string[] = [];
  return {
    broken,
    prepared,
    changes,
    hosts: createHostChoice({
      urls,
      async prepare(url) {
        prepared.push(url);
        if (broken.has(url)) throw Object.assign(new Error(`no ${url}`), { code: "ECONNREFUSED" });
      },
      onChange: (url, from) => changes.push(`${from} → ${url}`),
    }),
  };
}

t.test("the first host is prepared once, and used from then on", async (t) => {
  const { hosts, prepared, changes } = choice();
  const responses = await Promise.all([hosts.current(), hosts.current(), hosts.current()]);
  t.strictSame(responses, [urls[0], urls[0], urls[0]]);
  t.equal(await hosts.current(), urls[0]);
  t.strictSame([prepared, changes], [[urls[0]], []]);
});

t.test("an unreachable host is followed by the next ones, and used again after them", async (t) => {
  const { hosts, prepared, changes, broken } = choice();
  await hosts.current();
  hosts.leave("http://a:1");
  t.equal(await hosts.current(), "http://b:2");
  hosts.leave("http://a:1");
  t.equal(await hosts.current(), "http://b:2", "a host that is not in use cannot be left");
  broken.add("http://c:3");
  hosts.leave("http://b:2");
  t.equal(await hosts.current(), "http://a:1");
  t.strictSame(prepared, ["http://a:1", "http://b:2", "http://c:3", "http://a:1"]);
  t.strictSame(changes, ["http://a:1 → http://b:2", "http://b:2 → http://a:1"]);
});

t.test("a host that has not caught up is skipped", async (t) => {
  const { hosts, prepared } = choice(new Set(["http://a:1"]));
  t.equal(await hosts.current(), "http://b:2");
  t.strictSame(prepared, ["http://a:1", "http://b:2"]);
});

t.test("if no host is usable, the error has each host's reason, and the next call tries again", async (t) => {
  const { hosts, broken } = choice(new Set(urls));
  const error = await hosts.current().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  t.ok(error instanceof NoHostError);
  t.strictSame(
    [(error as NoHostError).message, (error as NoHostError).code],
    [
      "none of the hosts can be used (http://a:1: no http://a:1; http://b:2: no http://b:2; http://c:3: no http://c:3)",
      "ECONNREFUSED",
    ],
  );
  broken.clear();
  t.equal(await hosts.current(), "http://a:1");
});

t.test("leaving a host while another one is being chosen has no effect", async (t) => {
  const [ready, makeReady] = promise();
  const hosts = createHostChoice({
    urls,
    prepare: async (url) => {
      if (url === "http://b:2") await ready;
    },
    onChange: () => undefined,
  });
  await hosts.current();
  hosts.leave("http://a:1");
  const next = hosts.current();
  hosts.leave("http://a:1");
  makeReady();
  t.equal(await next, "http://b:2");
  t.equal(await hosts.current(), "http://b:2");
});
