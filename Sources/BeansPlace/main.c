// Does nothing: the plugin BeansCheck asks only where it has been built, because the programs of a package stand beside it.
int main(void) { return 0; }
