package surprise
