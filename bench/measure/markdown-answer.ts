/** An answer such as a model writes: paragraphs, a list, a table and code, in tokens of up to five characters. */

const SECTION = `## Retries, part NUMBER

A request that fails may be sent again only if the server has not begun to answer, or if the request is *idempotent*.
Everything else needs a key that the client chooses: the server stores the result under **that key** and returns it for
each repetition. Without it, a timeout after the commit makes the client order the same thing twice, and neither side can
tell. See [the guide](https://example.com/retries) for the cases in which \`GET\` is not enough.

- Wait longer after each attempt, and add a random part so that clients do not return all at once.
- Stop after a few attempts, and report the last error with the number of attempts.
- Honour \`Retry-After\`, up to a limit.

| Status | Repeat | Wait |
|---|---|---|
| 429 | yes | \`Retry-After\`, or one second |
| 503 | yes | two seconds |
| 400 | no | |

\`\`\`ts
export async function withRetries<T>(attempt: () => Promise<T>, limit = 3): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (count === limit || !isTransient(error)) throw error;
      await sleep(2 ** count * 100 * (1 + Math.random()));
    }
  }
}
\`\`\`

`;

/** The first `count` tokens. */
export function markdownTokens(count: number): readonly string[] {
  const tokens: string[] = [];
  for (let number = 1; tokens.length < count; number++)
    tokens.push(...(SECTION.replace('NUMBER', String(number)).match(/\s?\S{1,5}|\s/g) ?? []));
  return tokens.slice(0, count);
}
