// Compiles only if records with types have numbers, lists and missing values.
import type { components } from "./generated/typed";

type Plant = Required<components["schemas"]["Record_garden_catalog"]>;

export const price = (plant: Plant): number | null => plant.price;
export const tags = (plant: Plant): string[] | null => plant.tags;
export const title = (plant: Plant): string | null => plant.title;
