import { errorMessage } from "./error-message.js";

/** A store on a server cannot be used as it is configured. The message begins with the setting, and what the server or the network said is the cause. */
export class StoreNotOpenedError extends Error {
  override readonly name = "StoreNotOpenedError";
  constructor(setting: string, address: string, cause: unknown) {
    super(`${setting}: ${address} cannot be used: ${errorMessage(cause)}`, { cause });
  }
}
