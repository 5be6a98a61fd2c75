import { describe, expect, test } from 'bun:test';
import { isVersion, releasedChangelog, updatedLock, updatedManifest } from './versions.ts';

const ours = new Set(['parlance', '@parlance/sdk']);

describe('versions', () => {
  test('are numbers with an optional pre-release', () => {
    expect(['1.2.3', '0.10.0-rc.1'].every(isVersion)).toBe(true);
    expect(['1.2', 'v1.2.3', '1.2.3; rm', '', 'latest'].some(isVersion)).toBe(false);
  });

  test('are set in a manifest and for our packages that it needs', () => {
    const manifest = {
      name: 'a',
      version: '0.1.0',
      dependencies: { '@parlance/sdk': '0.1.0', zod: '4.0.0' },
    };
    expect(JSON.parse(updatedManifest(JSON.stringify(manifest), '0.2.0', ours))).toEqual({
      name: 'a',
      version: '0.2.0',
      dependencies: { '@parlance/sdk': '0.2.0', zod: '4.0.0' },
    });
  });

  test('are set in the lock file for workspaces alone', () => {
    const lock = {
      version: '0.1.0',
      packages: { '': { version: '0.1.0' }, 'node_modules/zod': { version: '4.0.0' } },
    };
    expect(JSON.parse(updatedLock(JSON.stringify(lock), '0.2.0', ours))).toEqual({
      version: '0.2.0',
      packages: { '': { version: '0.2.0' }, 'node_modules/zod': { version: '4.0.0' } },
    });
  });
});

describe('the changelog', () => {
  test('has the changes under the version, and an empty heading above', () => {
    const before =
      '# Changelog\n\n## [Unreleased]\n\n- A change.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n';
    expect(releasedChangelog(before, '0.2.0', '2026-02-02')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n- A change.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n',
    );
  });

  test('without changes stops the release', () => {
    expect(() =>
      releasedChangelog('## [Unreleased]\n\n## [0.1.0] - today\n\n- The first.\n', '0.2.0', 'today'),
    ).toThrow('no unreleased changes');
  });
});
