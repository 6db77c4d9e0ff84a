store "bolt" {}
