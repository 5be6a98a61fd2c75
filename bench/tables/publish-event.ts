/** Triggers an event over the HTTP API of Pusher channels, signed with the secret that ships. */
import { createHash, createHmac } from 'node:crypto';

const APPLICATION = { id: 'app-id', key: 'app-key', secret: 'app-secret' };

export async function publishEvent(http: string, channel: string, name: string, data: string): Promise<void> {
  const path = `/apps/${APPLICATION.id}/events`;
  const body = JSON.stringify({ name, channel, data });
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
  if (!response.ok) throw new Error(`publishing answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
