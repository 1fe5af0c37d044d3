/usr/local/bin/fio --client=127.0.0.1 --max-jobs=2 --output-format=json fio.job
