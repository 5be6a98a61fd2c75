/** The default theme with the colours and fonts of the console, and a link to it. */

import { useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** Links of the navigation cannot leave the folder of the documentation. */
const consoleLink = () => h('a', { class: 'console-link', href: '/', target: '_self' }, 'Console');

export default {
  extends: DefaultTheme,
  Layout: () =>
    // The first page shows its first table as cards.
    h(
      DefaultTheme.Layout,
      { class: { 'first-page': useData().page.value.relativePath === 'index.md' } },
      {
        'nav-bar-content-after': consoleLink,
        'nav-screen-content-after': consoleLink,
      },
    ),
};
