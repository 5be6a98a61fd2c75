import { describe, expect, test } from 'bun:test';
import { isSameAddress } from './key-address.ts';

describe('two addresses of a model API', () => {
  const ADDRESS = 'https://models.example/team/v1';

  test('are the same despite a slash, the version, the case of the host or a default port', () => {
    for (const other of [
      'https://models.example/team/v1/',
      'https://models.example/team',
      'https://models.example/team/v1beta',
      'https://MODELS.example/team/v1',
      'https://models.example:443/team/v1',
    ])
      expect([other, isSameAddress(ADDRESS, other)]).toEqual([other, true]);
  });

  test('differ by scheme, host, port or path', () => {
    for (const other of [
      'http://models.example/team/v1',
      'https://models.example.evil/team/v1',
      'https://evil/models.example/team/v1',
      'https://models.example:8443/team/v1',
      'https://models.example/other/v1',
      'https://models.example/team/v1/other',
      'https://models.example/Team/v1',
      'https://models.example/team/v1?to=other',
      'models.example/team/v1',
    ])
      expect([other, isSameAddress(ADDRESS, other)]).toEqual([other, false]);
  });
});
