import { expect, test } from 'bun:test';
import type { ServerNode, SessionDetails } from '@parlance/sdk';
import { driverText } from './driver.tsx';

const nodeOf = (id: string, more: Partial<ServerNode> = {}): ServerNode => ({
  id,
  version: '1.2.3',
  home: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  leaseAgeMs: 100,
  alive: true,
  bus: 'up',
  sessions: 1,
  here: false,
  ...more,
});
const HERE = nodeOf('aaaaaaaa-1111', { here: true });
const THERE = nodeOf('bbbbbbbb-2222');

const running = (driver: SessionDetails['driver']) => ({ status: 'running', driver }) as const;

test('names the node that drives, and whether the page is connected to it', () => {
  expect(driverText(running({ node: HERE.id }), [HERE, THERE])).toEqual({
    variant: 'plain',
    words: 'node aaaaaaaa',
    title: 'Running on node aaaaaaaa-1111, the node this page is connected to. Version 1.2.3.',
  });
  expect(driverText(running({ node: THERE.id }), [HERE, THERE])?.title).toContain(
    'not the node this page is connected to',
  );
});

test('says if the node is gone or none drives yet', () => {
  const dead = { ...THERE, alive: false };
  expect(driverText(running({ node: dead.id }), [HERE, dead])).toMatchObject({
    variant: 'bad',
    words: 'node bbbbbbbb gone',
  });
  expect(driverText(running({ node: 'removed' }), [HERE, THERE])).toMatchObject({ variant: 'bad' });
  expect(driverText(running(null), [HERE, THERE])).toMatchObject({ variant: 'waiting', words: 'no node' });
});

test('is nothing with a single node, without work, or if the server does not tell', () => {
  expect(driverText({ status: 'waiting', driver: null }, [HERE, THERE])).toBeNull();
  expect(driverText(running({ node: HERE.id }), [HERE])).toBeNull();
  expect(driverText(running(undefined), [HERE, THERE])).toBeNull();
});
