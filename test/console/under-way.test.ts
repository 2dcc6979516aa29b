/** Readers of the console share requests that are under way. */
import t from "tap";
import { forgetUnderWay, shared } from "../../src/console/state/under-way.js";

/** Requests that were sent, each with its signal and a function that ends it. */
function server() {
  const sent: { signal: AbortSignal; respond: (text: string) => void; fail: (error: Error) => void }[] = [];
  const send = (signal: AbortSignal) =>
    new Promise<string>((respond, fail) => {
      sent.push({ signal, respond, fail });
    });
  return { sent, send };
}
const reader = () => new AbortController();

t.test("equal requests under way are sent once, and others are not shared", async (t) => {
  const { sent, send } = server();
  const both = [shared("causes", send, reader().signal), shared("causes", send, reader().signal)];
  const other = shared("accepted", send, reader().signal);
  t.equal(sent.length, 2);
  sent[0]?.respond("some");
  sent[1]?.respond("none");
  t.strictSame([await Promise.all(both), await other], [["some", "some"], "none"]);
  const later = shared("causes", send, reader().signal);
  t.equal(sent.length, 3, "a request that is over is sent again");
  sent[2]?.respond("more");
  t.equal(await later, "more");
});

t.test("a request is aborted once its last reader leaves", async (t) => {
  const { sent, send } = server();
  const [first, second, third] = [reader(), reader(), reader()];
  const [one, two] = [shared("leaving", send, first.signal), shared("leaving", send, second.signal)];
  first.abort();
  await t.rejects(one, { name: "AbortError" });
  t.equal(sent[0]?.signal.aborted, false, "another reader still waits");
  second.abort();
  await t.rejects(two, { name: "AbortError" });
  t.equal(sent[0]?.signal.aborted, true);
  const three = shared("leaving", send, third.signal);
  t.equal(sent.length, 2, "a reader that comes later does not join an aborted request");
  sent[1]?.respond("fresh");
  t.equal(await three, "fresh");
  third.abort();
  await t.rejects(shared("leaving", send, third.signal), { name: "AbortError" });
  t.equal(sent.length, 2, "a reader that has left sends nothing");
});

t.test("a failure reaches every reader, and the next one sends again", async (t) => {
  const { sent, send } = server();
  const both = [shared("failing", send, reader().signal), shared("failing", send, reader().signal)];
  sent[0]?.fail(new Error("Later."));
  for (const each of both) await t.rejects(each, { message: "Later." });
  void shared("failing", send, reader().signal);
  t.equal(sent.length, 2);
});

t.test("a reader after a change does not get a response from before it", async (t) => {
  const { sent, send } = server();
  const before = shared("changed", send, reader().signal);
  forgetUnderWay();
  const after = shared("changed", send, reader().signal);
  t.equal(sent.length, 2);
  sent[0]?.respond("old");
  t.equal(await before, "old");
  const joined = shared("changed", send, reader().signal);
  t.equal(sent.length, 2, "the end of the former request does not end the sharing of the new one");
  sent[1]?.respond("new");
  t.strictSame([await after, await joined], ["new", "new"]);
});
