// Compiles only if records with types have numbers, lists and missing values, and requests have the fields of the dataset.
import type { components, paths } from "./generated/typed";

type Plant = Required<components["schemas"]["Record_garden_catalog"]>;

export const price = (plant: Plant): number | null => plant.price;
export const tags = (plant: Plant): string[] | null => plant.tags;
export const title = (plant: Plant): string | null => plant.title;

type Query<Path extends keyof paths> = NonNullable<NonNullable<paths[Path]["get"]>["parameters"]["query"]>;

export const listing: Query<"/api/v1/garden/catalog/data"> = { _typed: true, price: { gte: 10 }, category: { in: "climber,shrub" } };
export const groups: Query<"/api/v1/garden/catalog/aggregate"> = { _typed: true, _by: ["category"], _measure: ["count", "mean:price"] };
