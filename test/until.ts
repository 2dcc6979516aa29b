import { setTimeout as delay } from "node:timers/promises";

/** Waits until a condition is true. Throws the description of the condition after a time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 180,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${seconds} s: ${what}`);
    await delay(10);
  }
}
