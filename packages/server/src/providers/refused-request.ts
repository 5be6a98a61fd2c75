/** A request that a vendor refused for a reason of its own. */
import type { WireFault } from './wire.ts';

/** With the vendor's words where they are one short line without a key, an address, a path, markup, data or a stack. */
export const refusedRequest = (vendor: string, message: string, key: string | undefined): WireFault => ({
  code: 'provider_rejected',
  message: `${vendor} refused the request${isClean(message, key) ? `: ${message.replace(/\.$/, '')}` : ''}.`,
  retryable: false,
});

const isClean = (message: string, key: string | undefined): boolean =>
  message !== '' &&
  message.length <= 250 &&
  !/\p{Cc}|[<>{}]|https?:|\bsk-|bearer|traceback|\bat .+:\d+|(?:^|[\s'"(=:])(?:~|[a-z]:)?[\\/][\w.-]+[\\/]|[\w-]{40,}/iu.test(
    message,
  ) &&
  !(key && message.includes(key));
