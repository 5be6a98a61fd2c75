import { expect, test } from 'bun:test';
import type { ConnectionId } from '@parlance/protocol';
import { LOCAL } from '@parlance/protocol';
import type { Socket } from '../../../http/connection.ts';
import type { VendorContext } from '../../kit/vendor-requests.ts';
import { openSocket } from './socket.ts';

test('a connection ends with an error when it has reached its limit', async () => {
  const frames: object[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<[number, string]>();
  const socket: Socket = {
    id: 'socket' as ConnectionId,
    principal: LOCAL,
    session: null,
    open: true,
    setDialect: () => undefined,
    sendFrame: (frame) => frames.push(frame),
    send: () => undefined,
    close: (code, reason) => resolve([code, reason]),
  };
  openSocket(socket, {} as VendorContext, 1).opened?.();
  expect(await closed).toEqual([1000, 'Connection limit reached']);
  expect(frames).toMatchObject([
    { type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } },
  ]);
});
