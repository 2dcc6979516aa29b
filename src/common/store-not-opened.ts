import { errorMessage } from "./error-message.js";

/**
 * The configured store server is unusable. The message begins with the setting. The error of the server or the network
 * is the cause.
 */
export class StoreNotOpenedError extends Error {
  override readonly name = "StoreNotOpenedError";
  constructor(setting: string, address: string, cause: unknown) {
    super(`${setting}: ${address} cannot be used: ${errorMessage(cause)}`, { cause });
  }
}
