/** Codes of ISO 4217, as the runtime knows them: also those of currencies that are no longer used, which old bills have. */
export const currencyCodes: readonly string[] = Intl.supportedValuesOf("currency");
