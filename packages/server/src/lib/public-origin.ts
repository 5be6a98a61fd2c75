/** Origins of the public internet: no addresses, and no names of this machine or its network. */

const ORIGIN =
  /^(?:https|wss):\/\/(?:\*\.)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9])(?::\d{1,5})?$/;
const LOCAL = /\.(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|arpa)$/;

/** Whether it is such an origin, `https://*.example.com` included: it can stand in a policy as it is. */
export function isPublicOrigin(text: string): boolean {
  const host = ORIGIN.exec(text)?.[1];
  return host !== undefined && text.length <= 300 && !LOCAL.test(host);
}

/** Whether the host is that of the origin, or one that its `*` stands for. */
export function coversHost(origin: string, host: string): boolean {
  const pattern = origin.replace(/^\w+:\/\//, '').replace(/:\d+$/, '');
  const name = host.replace(/:\d+$/, '');
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}
