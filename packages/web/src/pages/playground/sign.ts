/** Requests a channel signature from the server, as Pusher clients do. */
import type { Example, Known } from './examples/index.ts';

type Signed = Pick<Known, 'signature' | 'userData'>;

/** The signature, or the reason of the refusal. */
export async function signatureFor(
  { path, channel }: NonNullable<Example['signed']>,
  known: Known,
  token: string | null,
): Promise<Signed | string> {
  const fields = new URLSearchParams({ socket_id: known.socket ?? '' });
  if (channel) fields.set('channel_name', channel(known));
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      body: fields,
    });
    if (!response.ok) return `${response.status} ${await response.text()}`;
    const { auth, user_data } = (await response.json()) as { auth: string; user_data?: string };
    return { signature: auth, userData: user_data };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
