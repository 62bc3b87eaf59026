// A device's end of Sordino's point reports: check the head, project, snap, draw exact planar Laplace noise, send.
//
// No dependencies; browsers and Node 20 or newer. Every decision about the noise is a comparison of integers, so that
// the report has exactly the law of the proof (docs/proofs/geo_points.md); randomness comes from WebCrypto alone.

const T = 65536n; // the privacy loss is one over this many lattice steps
const LAW = "planar-laplace-65536";
const FORMAT = "sordino.geo.point";
const VERSION = 2;
const SPHERE = "sphere-azimuthal-equidistant";
const FLAT = { line: 1, plane: 2, space: 3 };
const RATIOS = { 1: [1n, 1n], 2: [12n, 17n], 3: [15n, 26n] }; // r/c is at most 1/sqrt(d)
const PATIENCE = 100000; // words for one draw; an honest source ends after some tens
const HEAD = ["dimension", "format", "high", "id", "law", "low", "price", "reference", "step", "stretch", "version"];

/** What went wrong; nothing may be sent. */
export class SordinoError extends Error {
  constructor(message) {
    super(message);
    this.name = "SordinoError";
  }
}

function refuse(message) {
  throw new SordinoError(message);
}

// Words ---------------------------------------------------------------------------------------------------

/** Uniform 64-bit words from the platform's cryptographic source. */
export function cryptoWords() {
  const buffer = new BigUint64Array(64);
  let left = 0;
  return () => {
    if (left === 0) {
      globalThis.crypto.getRandomValues(buffer);
      left = buffer.length;
    }
    const word = buffer[--left];
    buffer[left] = 0n; // a used word is not kept
    return word;
  };
}

// Noise ---------------------------------------------------------------------------------------------------

const bitLength = (n) => (n === 0n ? 0 : n.toString(2).length);

function below(n, word) {
  const size = bitLength(n - 1n);
  if (size === 0) return 0n;
  for (;;) {
    const v = word() >> BigInt(64 - size);
    if (v < n) return v;
  }
}

// True with probability exp(-a/b), 0 <= a <= b: von Neumann's series.
function expRatio(a, b, word) {
  let k = 1n;
  while (below(b * k, word) < a) k += 1n;
  return k % 2n === 1n;
}

function geometric(s, t, word) {
  let u;
  do u = below(t, word);
  while (!expRatio(u, t, word));
  let v = 0n;
  while (expRatio(1n, 1n, word)) v += 1n;
  return (u + t * v) / s;
}

function twoSided(s, t, word) {
  for (;;) {
    const negative = word() >> 63n === 1n;
    const size = geometric(s, t, word);
    if (!(negative && size === 0n)) return negative ? -size : size;
  }
}

// True with probability exp(-x), x = (sqrt(square) - (r/c) total)/T.
function keep(square, total, r, c, word) {
  const goal = c * c * square;
  let v = 0n;
  while ((r * total + c * T * (v + 1n)) ** 2n <= goal) {
    if (!expRatio(1n, 1n, word)) return false;
    v += 1n;
  }
  const base = r * total + c * T * v;
  for (let k = 1n; ; k += 1n) {
    let u = 0n;
    let bits = 0n;
    for (;;) {
      u = (u << 32n) | (word() >> 32n);
      bits += 32n;
      const low = (base << bits) + c * T * k * u;
      const far = goal << (2n * bits);
      if (low * low >= far) return k % 2n === 1n;
      if ((low + c * T * k) ** 2n <= far) break;
    }
  }
}

const gcd = (a, b) => (b === 0n ? a : gcd(b, a % b));

/** One noise vector in lattice steps, P(K = k) proportional to exp(-|k|/65536), as BigInts. */
export function noise(dimension, word = cryptoWords()) {
  const [r, c] = RATIOS[dimension] ?? refuse(`no noise in ${dimension} dimensions`);
  let used = 0;
  const counted = () => {
    used += 1;
    if (used > PATIENCE) refuse("the source of random words repeats itself; nothing was sent");
    return word();
  };
  const shared = gcd(r, c * T);
  const [s, t] = [r / shared, (c * T) / shared];
  for (;;) {
    const k = Array.from({ length: dimension }, () => twoSided(s, t, counted));
    if (dimension === 1) return k;
    const square = k.reduce((sum, i) => sum + i * i, 0n);
    const total = k.reduce((sum, i) => sum + (i < 0n ? -i : i), 0n);
    if (keep(square, total, r, c, counted)) return k;
  }
}

// Projection ----------------------------------------------------------------------------------------------

/** Metres east and north of the centre; beyond its reach the map is folded, so that no near points are torn apart. */
export function project(longitude, latitude, reference) {
  const [lon0, lat0, radius, reach] = ["longitude", "latitude", "radius", "reach"].map((n) => Number(reference[n]));
  const radians = Math.PI / 180;
  if (!(Math.abs(latitude) <= 90) || !Number.isFinite(longitude)) return [NaN, NaN];
  const turn = longitude - lon0;
  const across = (turn - 360 * Math.round(turn / 360)) * radians;
  const [up, up0, rise] = [latitude * radians, lat0 * radians, (latitude - lat0) * radians];
  const bend = Math.cos(up) * Math.sin(across / 2) ** 2;
  const east = Math.cos(up) * Math.sin(across);
  const north = Math.sin(rise) + 2 * Math.sin(up0) * bend;
  const angle = 2 * Math.asin(Math.sqrt(Math.min(Math.sin(rise / 2) ** 2 + Math.cos(up0) * bend, 1)));
  const c0 = reach / radius;
  const factor = angle < 1e-12 ? 1 : angle <= Math.PI / 2 ? Math.min(angle, c0) / Math.sin(angle) : c0;
  return [radius * factor * east, radius * factor * north];
}

/** Lattice integers floor(v/step + 1/2), clamped to the box; what is not finite goes to the low corner. */
export function snap(metres, head) {
  const step = Number(head.step);
  if (!metres.every(Number.isFinite)) return [...head.low];
  return metres.map((v, i) => Math.max(head.low[i], Math.min(head.high[i], Math.floor(v / step + 0.5))));
}

// Head ----------------------------------------------------------------------------------------------------

/** UTF-8 JSON with sorted keys and no spaces: the same bytes in every language. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/** The name of a head: the first 32 hexadecimal digits of the SHA-256 of all of it but the name. */
export async function identity(head) {
  const { id, ...rest } = head;
  const bytes = new TextEncoder().encode(canonical(rest));
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const positive = (text) => typeof text === "string" && /^\d+(\.\d+)?$/.test(text) && Number(text) > 0;

/** Refuse a head that does not fit its name, its law or its price; return it unchanged otherwise. */
export async function checkHead(head, expectedId = head?.id) {
  if (head === null || typeof head !== "object") refuse("the head is no object");
  const names = Object.keys(head).filter((name) => name !== "rounds").sort();
  if (names.join() !== HEAD.join()) refuse("the head has other fields than a client knows");
  if (head.format !== FORMAT || head.version !== VERSION) refuse(`not ${FORMAT} version ${VERSION}`);
  if (head.law !== LAW) refuse(`the law ${head.law} is not known`);
  const d = head.dimension;
  const reference = head.reference ?? {};
  const known = reference.kind === SPHERE ? 2 : FLAT[reference.kind];
  if (known !== d) refuse("the coordinate reference is not known");
  if (reference.kind === SPHERE) {
    const [radius, reach] = [Number(reference.radius), Number(reference.reach)];
    if (!(Math.abs(Number(reference.longitude)) <= 180 && Math.abs(Number(reference.latitude)) <= 90))
      refuse("the centre is no place on Earth");
    if (!(radius >= 6335000 && radius <= 6400000 && reach > 0 && reach <= 300000)) refuse("the map is too large");
  }
  const price = head.price ?? {};
  if (![head.step, head.stretch, price.epsilon, price.per].every(positive)) refuse("the head's numbers are no decimals");
  for (const corner of [head.low, head.high])
    if (!Array.isArray(corner) || corner.length !== d || !corner.every((v) => Number.isSafeInteger(v) && Math.abs(v) <= 2 ** 44))
      refuse("the box is not made of integers");
  if (head.low.some((v, i) => v >= head.high[i])) refuse("the box is empty");
  const [epsilon, per, stretch] = [Number(price.epsilon), Number(price.per), Number(head.stretch)];
  const least = (stretch * per) / epsilon / (Number(T) - Math.sqrt(d) / epsilon);
  if (!(stretch >= 1) || !(epsilon >= (64 * Math.sqrt(d)) / Number(T)) || !(Number(head.step) >= least * (1 - 1e-9)))
    refuse("the lattice is too fine for the price: reports would reveal more than was promised");
  if ((await identity(head)) !== head.id || head.id !== expectedId) refuse("the head does not fit its name");
  return head;
}

// Report --------------------------------------------------------------------------------------------------

/**
 * Make one report of a position. The order is part of the promise: the head is checked and the budget debited before
 * anything is drawn, and a stored report is sent again rather than drawn again.
 */
export async function report(head, position, { device, round = 0, debit, expectedId, word } = {}) {
  await checkHead(head, expectedId);
  if (typeof device !== "string" || device.length < 1 || device.length > 200) refuse("device must be a text of 1 to 200 characters");
  if (!Number.isSafeInteger(round) || round < 0) refuse("round must be a whole number from 0 on");
  if (typeof debit !== "function") refuse("a debit function is needed: it must resolve after the price is on disk");
  const metres =
    head.reference.kind === SPHERE ? project(position.longitude, position.latitude, head.reference) : position.values;
  if (!Array.isArray(metres) || metres.length !== head.dimension || !metres.every(Number.isFinite))
    refuse("the device has no position: nothing is sent");
  await debit({ epsilon: head.price.epsilon, per: head.price.per, mechanism: head.id, round });
  const k = noise(head.dimension, word);
  const at = snap(metres, head).map((v, i) => Number(BigInt(v) + k[i]));
  return { format: FORMAT, version: VERSION, mechanism: head.id, device, round, at };
}

/** The number of the round at a time, from the head's clock. */
export function roundAt(head, time = Date.now()) {
  if (!head.rounds) return 0;
  return Math.max(0, Math.floor((time - Date.parse(head.rounds.from)) / (1000 * head.rounds.seconds)));
}
