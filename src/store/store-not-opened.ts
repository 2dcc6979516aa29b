import { messageOf } from "./message-of.js";

/** A store on a server cannot be used as it is configured. The message begins with the setting, and what the server or the network said is the cause. */
export class StoreNotOpened extends Error {
  override readonly name = "StoreNotOpened";
  constructor(setting: string, address: string, cause: unknown) {
    super(`${setting}: ${address} cannot be used: ${messageOf(cause)}`, { cause });
  }
}
