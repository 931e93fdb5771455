// Begins the one episode that a page gives, as MiniWoB's own environment does: seed, split, start. It has no limit of time.
const start = () => {
  Math.seedrandom(seed);
  core.setDataMode(seed < 2_000_000 ? "train" : "test");
  core.EPISODE_MAX_TIME = 2 ** 31 - 1; // ms, the longest that a timer can be: 24 days
  core.startEpisodeReal();
  core.startEpisodeReal = () => {}; // the cover that comes at the end offers another one
  core.hideDisplay();
};
// By then the page has said what it does when it is loaded, and ours comes after that.
if (window === top) document.addEventListener("DOMContentLoaded", () => addEventListener("load", start));
