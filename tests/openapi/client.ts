// A program of somebody else: types from openapi-typescript, requests by openapi-fetch.
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const client = createClient<paths>({ baseUrl: process.argv[2] });

const made = await client.POST("/api/sessions", {
  body: { mode: "shell", name: "from TypeScript", start: true },
});
if (!made.data || !("session" in made.data.data)) throw new Error(JSON.stringify(made.error));
const { id } = made.data.data.session;

const typed = await client.POST("/api/sessions/{id}/input", {
  params: { path: { id } },
  body: { input: "mark-42\r", useMux: true },
});
if (typed.error) throw new Error(typed.error.toString());

const waited = await client.GET("/api/sessions/{id}/wait-output", {
  params: { path: { id }, query: { match: "mark-42", from: "buffer", timeout: 30_000 } },
});
console.log(waited.data?.data.wait.matched);

// What the document does not know must not compile.
// @ts-expect-error
await client.PUT("/api/sessions/{id}/name", { params: { path: { id } }, body: { nom: "x" } });
// @ts-expect-error
const never = client.GET("/api/nowhere");
await never;

const ended = await client.DELETE("/api/sessions/{id}", { params: { path: { id } } });
console.log(ended.data?.success);
