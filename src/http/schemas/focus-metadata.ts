/** The metadata of a FOCUS file. Its names are those of the specification. */
import { Type } from "@sinclair/typebox";
import { focusVersion } from "./export.js";
import { dateRange, inputOf, timezone } from "./parameters.js";

export const focusMetadataQuery = inputOf({ ...dateRange, ...timezone, focus_version: focusVersion });

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const instant = (description: string) =>
  Type.String({ description, format: "date-time", examples: ["2026-03-02T04:00:00Z"] });
const id = (description: string) => text(description, "3d6f1c1e-52c7-8a40-9f3e-0d7c1a2b3c4d");

const ColumnDefinition = Type.Object({
  ColumnName: text("Name of the column.", "BilledCost"),
  DataType: text("STRING, DECIMAL, DATETIME or JSON.", "DECIMAL"),
  NumericPrecision: Type.Optional(Type.Integer({ description: "Digits of a decimal.", examples: [38] })),
  NumberScale: Type.Optional(Type.Integer({ description: "Decimal places.", examples: [12] })),
  StringEncoding: Type.Optional(text("Encoding of a text.", "UTF-8")),
  Deprecated: Type.Optional(
    Type.Boolean({ description: "The version has replaced the column.", examples: [true] }),
  ),
});

export const focusMetadataSchema = Type.Object(
  {
    DataGenerator: Type.Object(
      {
        DataGenerator: text("Name of the service.", "chargehouse"),
        DataGeneratorVersion: text("Version of the service.", "0.1.0"),
      },
      { description: "The service that generates the files." },
    ),
    DatasetInstance: Type.Array(
      Type.Object({
        DatasetInstanceId: id("Id of the tenant's chargebacks."),
        DatasetInstanceName: text("Their name.", "acme chargebacks"),
        FocusDatasetId: text("The dataset of the specification.", "CostAndUsage"),
      }),
      { description: "One entry." },
    ),
    Recency: Type.Array(
      Type.Object({
        DatasetInstanceId: id("Id of the tenant's chargebacks."),
        RecencyLastUpdated: instant("When the latest of the days was published."),
        DatasetInstanceLastUpdated: instant("The same."),
        TimeSectors: Type.Array(
          Type.Object(
            {
              TimeSectorStart: instant("Start of a UTC day."),
              TimeSectorEnd: instant("Its end."),
              TimeSectorComplete: Type.Boolean({
                description: "False while the day is provisional, or newer input waits.",
                examples: [true],
              }),
              TimeSectorLastUpdated: instant("When it was published."),
            },
            { description: "A day." },
          ),
          { description: "One entry for each published day." },
        ),
      }),
      { description: "One entry." },
    ),
    Schema: Type.Array(
      Type.Object({
        SchemaId: id("Derived from the content of the schema: a different schema has a different id."),
        FocusVersion: text("Version of FOCUS.", "1.4"),
        CreationDate: instant("When the first of the days was published."),
        DataGeneratorVersion: text("Version of the service.", "0.1.0"),
        DatasetInstanceId: id("Id of the tenant's chargebacks."),
        ColumnDefinition: Type.Array(ColumnDefinition, {
          description: "The columns of the file, in its order.",
        }),
      }),
      { description: "One entry." },
    ),
  },
  { title: "FocusMetadata", description: "Metadata that FOCUS requires for a file." },
);
