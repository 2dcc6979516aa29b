/** ISO 4217 codes of the runtime. They include currencies that are no longer used, because old bills may have them. */
export const currencyCodes: readonly string[] = Intl.supportedValuesOf("currency");
