// Hold the client to the shared vectors: `node vectors.js` prints what failed, `node vectors.js --answer` answers one
// vector per line for `sordino geo check-client`. The same functions run in a browser page.
import * as client from "./sordino-geo.js";

/** The client's answer to one vector. */
export async function answer({ kind, in: given }) {
  if (kind === "noise") {
    const words = given.words.map((word) => BigInt(`0x${word}`));
    let used = 0;
    const k = client.noise(given.d, () => words[used++] ?? failed("the vector has too few words"));
    return { k: k.map(Number), words_used: used };
  }
  if (kind === "project") {
    const reference = { longitude: given.centre_lon, latitude: given.centre_lat, radius: given.radius, reach: given.reach };
    const [east, north] = client.project(Number(given.lon), Number(given.lat), reference);
    return { east: String(east), north: String(north) };
  }
  if (kind === "snap") return { at: client.snap(given.metres.map(Number), given) };
  if (kind === "head") return { id: await client.identity(given) };
  if (kind === "refuse") {
    try {
      await client.checkHead(given);
      return { refused: false };
    } catch (error) {
      if (error instanceof client.SordinoError) return { refused: true };
      throw error;
    }
  }
  return null;
}

function failed(message) {
  throw new Error(message);
}

const near = (a, b) => Math.abs(Number(a) - Number(b)) <= 1e-6;

/** Check all vectors this client knows; counts by kind, and what was wrong. */
export async function check(vectors) {
  const right = {};
  const wrong = [];
  for (const [i, vector] of vectors.entries()) {
    let found;
    try {
      found = await answer(vector);
    } catch (error) {
      found = { error: String(error) };
    }
    if (found === null) continue;
    const same =
      vector.kind === "project"
        ? near(found.east, vector.out.east) && near(found.north, vector.out.north)
        : client.canonical(found) === client.canonical(vector.out);
    if (same) right[vector.kind] = (right[vector.kind] ?? 0) + 1;
    else wrong.push({ i, kind: vector.kind, found, expected: vector.out });
  }
  return { right, wrong };
}

if (typeof process !== "undefined" && process.argv?.[1]?.endsWith("vectors.js")) {
  if (process.argv.includes("--answer")) {
    const { createInterface } = await import("node:readline");
    for await (const line of createInterface({ input: process.stdin })) {
      console.log(JSON.stringify(await answer(JSON.parse(line))));
    }
  } else {
    const { readFile } = await import("node:fs/promises");
    const { vectors } = JSON.parse(await readFile(new URL("vectors.json", import.meta.url), "utf8"));
    const result = await check(vectors);
    console.log(JSON.stringify(result));
    process.exitCode = result.wrong.length ? 1 : 0;
  }
}
