/** Plays a `wscat` session of the documentation: sends its `>` lines and waits for its `<` lines. */
import { TestClient } from '../../packages/server/src/testing/client.ts';
import { filledIn, fits, type Names } from './transcript.ts';

/** The first frame that was not received as shown, with the one received instead; null if all were. */
export async function socketDifference(
  command: string,
  lines: readonly string[],
  names: Names,
): Promise<string | null> {
  const client = await TestClient.connect(/(\bwss?:[^\s"']+)/.exec(command)?.[1] ?? '');
  try {
    let anyFrames = false;
    for (const line of lines) {
      const text = line.slice(2);
      if (line.startsWith('> ')) client.send(JSON.parse(filledIn(text, names)));
      else if (text === '…') anyFrames = true;
      else {
        const frame = await client.next((one) => !anyFrames || fits(JSON.stringify(one), text, names));
        anyFrames = false;
        if (!fits(JSON.stringify(frame), text, names))
          return `shown: ${text}\nsent:  ${JSON.stringify(frame)}`;
      }
    }
    return null;
  } finally {
    client.close();
  }
}
