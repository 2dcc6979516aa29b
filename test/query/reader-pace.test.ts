import t from "tap";
import { readerPace } from "../../src/export/reader-pace.js";

/** A pace whose clock only moves on request. */
function pace(limit: { graceMs: number; bytesPerSecond: number }) {
  let now = 1_000;
  const state = { hasWaiters: true };
  const reader = readerPace({ ...limit, hasWaiters: () => state.hasWaiters }, () => now);
  const after = (milliseconds: number) => {
    now += milliseconds;
    return reader;
  };
  return { after, state };
}

const limit = { graceMs: 10_000, bytesPerSecond: 100 };
const slow = { name: "SlowReaderError" };

t.test("a slow client is rejected only after the grace period and only while others wait", async (t) => {
  const { after, state } = pace(limit);
  after(0).offered();
  t.doesNotThrow(() => after(9_999).check());
  state.hasWaiters = false;
  t.doesNotThrow(() => after(1).check());
  state.hasWaiters = true;
  t.throws(() => after(0).check(), slow);
});

t.test("a client that reads a little at a time counts as slow", async (t) => {
  const { after } = pace(limit);
  for (let second = 0; second < 10; second += 1) {
    after(0).offered();
    after(1_000).taken(99);
  }
  t.throws(() => after(0).check(), {
    ...slow,
    message: "990 bytes were read in 10 s while another request waits",
  });
});

t.test("a client at exactly the required pace is not slow", async (t) => {
  const { after } = pace(limit);
  for (let second = 0; second < 20; second += 1) {
    after(0).offered();
    after(1_000).taken(100);
    t.doesNotThrow(() => after(0).check());
  }
});

t.test("the time that the store takes does not count against the client", async (t) => {
  const { after } = pace(limit);
  after(0).offered();
  after(1).taken(1);
  t.doesNotThrow(() => after(3_600_000).check());
});
