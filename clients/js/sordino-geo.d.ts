/** All that a client needs to know; made by `sordino geo head`. Numbers that are not integers are decimal strings. */
export interface Head {
  format: "sordino.geo.point";
  version: 2;
  id: string;
  law: "planar-laplace-65536";
  dimension: 1 | 2 | 3;
  price: { epsilon: string; per: string; unit: string };
  stretch: string;
  reference: SphereReference | FlatReference;
  step: string;
  low: number[];
  high: number[];
  rounds?: { from: string; seconds: number };
}

export interface SphereReference {
  kind: "sphere-azimuthal-equidistant";
  longitude: string;
  latitude: string;
  radius: string;
  reach: string;
}

export interface FlatReference {
  kind: "line" | "plane" | "space";
  unit: string;
}

/** Degrees for a reference on the ground, plain numbers otherwise. */
export type Position = { longitude: number; latitude: number } | { values: number[] };

/** What leaves the device. */
export interface Report {
  format: "sordino.geo.point";
  version: 2;
  mechanism: string;
  device: string;
  round: number;
  at: number[];
}

export interface Debit {
  epsilon: string;
  per: string;
  mechanism: string;
  round: number;
}

export interface ReportOptions {
  /** A name of 1 to 200 characters that may report once per round. */
  device: string;
  /** Number of the collection round; see `roundAt`. */
  round?: number;
  /** Must resolve after the price has been written to the device's budget, and reject if it is not affordable. */
  debit: (price: Debit) => void | Promise<void>;
  /** The name that the app was shipped with, if it pins one. */
  expectedId?: string;
  /** Uniform 64-bit words, for tests; WebCrypto by default. */
  word?: () => bigint;
}

/** What went wrong; nothing may be sent. */
export class SordinoError extends Error {}

export function report(head: Head, position: Position, options: ReportOptions): Promise<Report>;
export function checkHead(head: unknown, expectedId?: string): Promise<Head>;
export function identity(head: object): Promise<string>;
export function canonical(value: unknown): string;
export function project(longitude: number, latitude: number, reference: SphereReference): [number, number];
export function snap(metres: number[], head: Pick<Head, "step" | "low" | "high">): number[];
export function noise(dimension: 1 | 2 | 3, word?: () => bigint): bigint[];
export function cryptoWords(): () => bigint;
export function roundAt(head: Head, time?: number): number;
