/** Triggers an event over the HTTP API of Pusher channels, signed with the default secret. */
import { createHash, createHmac } from 'node:crypto';

const APPLICATION = { id: 'app-id', key: 'app-key', secret: 'app-secret' };

type Published = { readonly channel: string; readonly name: string; readonly data: string };

export async function publishEvent(http: string, event: Published): Promise<void> {
  const path = `/apps/${APPLICATION.id}/events`;
  const body = JSON.stringify(event);
  const query = [
    `auth_key=${APPLICATION.key}`,
    `auth_timestamp=${Math.floor(Date.now() / 1000)}`,
    'auth_version=1.0',
    `body_md5=${createHash('md5').update(body).digest('hex')}`,
  ].join('&');
  const signature = createHmac('sha256', APPLICATION.secret).update(`POST\n${path}\n${query}`).digest('hex');
  const response = await fetch(`${http}${path}?${query}&auth_signature=${signature}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (!response.ok) throw new Error(`publish failed with ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
