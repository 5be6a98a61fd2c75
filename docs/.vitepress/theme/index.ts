/** The default theme with the colours and fonts of the console, and a link to it. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** Links of the navigation cannot leave the folder of the documentation. */
const consoleLink = () => h('a', { class: 'console-link', href: '/', target: '_self' }, 'Console');

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': consoleLink,
      'nav-screen-content-after': consoleLink,
    }),
};
