/** The transport between the nodes of a cluster, over Valkey or Redis. */
import type { Transport } from '../../core/ports/transport.ts';
import { CarriedTransport, type TransportOptions } from '../shared/carried-transport.ts';
import { ValkeyCarrier, type ValkeyServer } from './carrier.ts';
import { diagnose } from './diagnosis.ts';

export type ValkeyOptions = TransportOptions & { readonly server: ValkeyServer };

/**
 * Resolves after the first connection attempt. If the server cannot be reached, the node starts without it
 * and connects as soon as possible. Rejects if the server refuses the password, or its certificate is not
 * trusted.
 */
export async function openValkeyTransport({ server, ...options }: ValkeyOptions): Promise<Transport> {
  let firstAttempt: Promise<Error | null> = Promise.resolve(null);
  const transport = new CarriedTransport(options, (channels, events) => {
    const carrier = new ValkeyCarrier(server, channels, events);
    firstAttempt = carrier.firstAttempt;
    return carrier;
  });
  const failure = await firstAttempt;
  if (!failure) return transport;
  const { reason, permanent } = await diagnose(server, failure);
  if (permanent && !transport.up) {
    await transport.close();
    throw new Error(`REDIS_URL: ${reason}`, { cause: failure });
  }
  options.log.warn({ reason }, 'bus unreachable');
  return transport;
}
